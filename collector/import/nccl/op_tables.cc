#include "collector/import/nccl/op_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::collector::nccl {
namespace {

// Welford's sums of one row.
struct Runs {
  std::uint64_t count = 0;
  double sum = 0, min = 0, max = 0, mean = 0, squares = 0;

  void Add(double seconds) {
    min = count == 0 ? seconds : std::min(min, seconds);
    max = std::max(max, seconds);
    sum += seconds;
    const double before = seconds - mean;
    mean += before / static_cast<double>(++count);
    squares += before * (seconds - mean);
  }
};

std::string NameOf(const OpRecord& op) {
  return absl::StrCat(std::string(CollectiveKindName(op.kind)), " ", op.bytes, " bytes");
}

}  // namespace

void AddTables(const std::vector<RankedPart>& parts, Recording& recording) {
  std::map<std::uint32_t, std::map<std::string, Runs>> ranks;
  for (const RankedPart& ranked : parts) {
    for (const OpRecord& op : ranked.part.ops) {
      const std::int64_t ns = op.kernel_ns >= 0 ? op.kernel_ns
                              : op.timed()      ? op.end_ns - op.start_ns
                                                : kUnknown;
      if (ns >= 0) ranks[ranked.rank][NameOf(op)].Add(static_cast<double>(ns) * 1e-9);
    }
  }
  for (const auto& [rank, rows] : ranks) {
    diagnosis::RankTables tables;
    tables.rank = RankId(rank);
    for (const auto& [name, runs] : rows) {
      const double spread =
          runs.count > 1 ? std::sqrt(runs.squares / static_cast<double>(runs.count - 1)) : 0;
      tables.kernels.push_back(
          {"communication", name, runs.count, runs.sum, runs.min, runs.max, spread});
    }
    std::stable_sort(tables.kernels.begin(), tables.kernels.end(),
                     [](const auto& a, const auto& b) { return a.sum > b.sum; });
    recording.tables.push_back(std::move(tables));
  }
}

}  // namespace fathom::collector::nccl
