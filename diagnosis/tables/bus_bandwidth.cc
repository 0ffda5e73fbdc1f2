#include "diagnosis/tables/bus_bandwidth.h"

#include <map>
#include <tuple>
#include <utility>

#include "diagnosis/stats/robust.h"
#include "diagnosis/tables/job_tables.h"

namespace fathom::diagnosis {

double BusFactor(CollectiveKind kind, std::size_t members) {
  if (members < 2) return 0;
  const auto n = static_cast<double>(members);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return (n - 1) / n;
    default:
      return 0;
  }
}

double WholeBytes(CollectiveKind kind, std::uint64_t bytes, std::size_t members,
                  GatherBytes gathers) {
  const auto told = static_cast<double>(bytes);
  if (kind != CollectiveKind::kAllGather || gathers == GatherBytes::kWhole) return told;
  return gathers == GatherBytes::kPart ? told * static_cast<double>(members) : 0;
}

std::vector<BandwidthRow> BandwidthsOf(const std::vector<CollectiveRow>& collectives) {
  using Key = std::tuple<std::string, CollectiveKind, std::uint64_t, std::size_t>;
  struct Samples {
    std::vector<double> transfer, bus;
  };
  std::map<Key, Samples> sums;
  for (const CollectiveRow& row : collectives) {
    if (!(row.bus_bandwidth > 0)) continue;
    Samples& to = sums[{row.group, row.kind, row.bytes, row.members}];
    to.transfer.push_back(row.transfer);
    to.bus.push_back(row.bus_bandwidth);
  }
  std::vector<BandwidthRow> rows;
  for (auto& [key, samples] : sums) {
    const auto& [group, kind, bytes, members] = key;
    BandwidthRow row{group, kind, bytes, members, samples.bus.size(), 0, 0, 0};
    row.transfer = Median(std::move(samples.transfer));
    row.bus_slow = Quantile(samples.bus, 0.1);
    row.bus = Median(std::move(samples.bus));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace fathom::diagnosis
