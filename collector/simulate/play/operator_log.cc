#include "collector/simulate/play/operator_log.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "absl/strings/str_format.h"
#include "collector/simulate/play/player.h"

namespace fathom::simulate {
namespace {

std::vector<std::uint32_t> WatchedOf(const Scenario& scenario, std::uint32_t ranks) {
  const std::uint32_t world = scenario.plan.WorldSize();
  std::set<std::uint32_t> watched;
  for (const Fault& fault : scenario.faults) watched.insert(fault.rank);
  const std::uint32_t apart = std::max(1u, world / std::max(1u, ranks));
  for (std::uint32_t rank = 0; rank < world && watched.size() < ranks; rank += apart) {
    watched.insert(rank);
  }
  return {watched.begin(), watched.end()};
}

double Us(const SeenOp& op) { return 1e6 * (op.end - op.start); }

bool Abnormal(const SeenOp& op, const SeenOp& well) {
  return Us(op) > kAbnormalRatio * Us(well) && Us(op) > Us(well) + kAbnormalUs;
}

std::string LineOf(std::int64_t iteration, double seconds, std::uint32_t rank, std::size_t place,
                   const SeenOp& op, bool abnormal) {
  return absl::StrFormat("%d,%.1f,%d,%d,%d,%d,%d,%.2f,%d\n", iteration, 1e6 * seconds, rank,
                         static_cast<int>(op.step->dimension), static_cast<int>(op.step->kind),
                         op.step->bytes, place, Us(op), abnormal ? 1 : 0);
}

}  // namespace

void WriteOperators(const Scenario& scenario, std::uint32_t ranks,
                    const std::function<void(const std::string&)>& write) {
  Scenario well = scenario;
  well.faults.clear();
  Player with(scenario), without(well);
  const std::vector<std::uint32_t> watched = WatchedOf(scenario, ranks);
  write("iteration,iteration_us,rank,pattern,kind,bytes,place,elapsed_us,abnormal\n");
  for (std::int64_t iteration = 0; iteration < scenario.iterations; ++iteration) {
    with.Play(iteration, 0, watched);
    without.Play(iteration, 0, watched);
    if (std::isinf(with.end())) return;
    for (std::uint32_t rank : watched) {
      const std::vector<SeenOp>&ops = with.Seen(rank), &usual = without.Seen(rank);
      for (std::size_t i = 0; i < std::min(ops.size(), usual.size()); ++i) {
        write(LineOf(iteration, with.end(), rank, i, ops[i], Abnormal(ops[i], usual[i])));
      }
    }
  }
}

}  // namespace fathom::simulate
