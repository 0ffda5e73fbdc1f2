#include "diagnosis/graph/alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// Three years: clocks that count from when a host was started lie apart by as long as it runs.
constexpr double kFarthest = 1e17;

// Ends of one collective, by rank.
using Ends = std::vector<std::pair<RankId, std::int64_t>>;
// For a rank, its differences to each rank it shared collectives with.
using Differences = std::map<RankId, std::map<RankId, std::vector<double>>>;

// Each member against the first: enough to connect them all, and linear in their number.
Differences DifferencesOf(const JobView& view) {
  std::map<std::pair<GroupId, Sequence>, Ends> shared;
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      if (!op.done() || op.sequence == kNoSequence || !IsSynchronising(op.kind)) continue;
      shared[{op.group, op.sequence}].emplace_back(rank, op.end.ns);
    }
  }
  Differences differences;
  for (const auto& [key, ends] : shared) {
    for (std::size_t i = 1; i < ends.size(); ++i) {
      const auto apart = static_cast<double>(ends[i].second - ends[0].second);
      differences[ends[0].first][ends[i].first].push_back(apart);
      differences[ends[i].first][ends[0].first].push_back(-apart);
    }
  }
  return differences;
}

double MedianDistance(const std::vector<double>& values, double center) {
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - center));
  return Median(std::move(distances));
}

// From `first` to all ranks that can be reached.
void Spread(const Differences& differences, RankId first, ClockAlignment& out) {
  std::deque<RankId> open = {first};
  out.ranks[first].reference = first;
  while (!open.empty()) {
    const RankId at = open.front();
    open.pop_front();
    for (const auto& [other, values] : differences.at(at)) {
      if (values.size() < kFewestForMedian || out.ranks.contains(other)) continue;
      const double apart = Median(values);
      if (std::abs(apart) > kFarthest) continue;
      const RankClock from = out.ranks[at];
      const Nanos distance(std::llround(MedianDistance(values, apart)));
      out.ranks[other] = {from.offset + Nanos(std::llround(apart)), from.residual + distance, first,
                          values.size()};
      out.residual = std::max(out.residual, from.residual + distance);
      open.push_back(other);
    }
  }
}

}  // namespace

ClockAlignment AlignClocks(const JobView& view) {
  const Differences differences = DifferencesOf(view);
  ClockAlignment out;
  for (const auto& [rank, others] : differences) {
    if (!out.ranks.contains(rank)) Spread(differences, rank, out);
  }
  std::map<RankId, std::pair<Nanos, Nanos>> spans;  // least and most, by reference
  for (const auto& [rank, clock] : out.ranks) {
    auto& [least, most] = spans[clock.reference];
    least = std::min(least, clock.offset);
    most = std::max(most, clock.offset);
  }
  for (const auto& [reference, span] : spans) {
    out.largest = std::max(out.largest, span.second - span.first);
  }
  return out;
}

}  // namespace fathom::diagnosis
