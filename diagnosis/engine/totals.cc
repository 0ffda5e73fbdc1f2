#include "diagnosis/engine/totals.h"

#include <algorithm>
#include <map>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

struct GroupLevel {
  Nanos shortest;
  Nanos median;
};

std::map<GroupId, GroupLevel> LevelsOf(const IterationSummary& iteration) {
  std::map<GroupId, std::vector<double>> elapsed;
  for (const RankIteration& rank : iteration.ranks) {
    for (const GroupIteration& g : rank.groups) elapsed[g.group].push_back(g.elapsed.Seconds());
  }
  std::map<GroupId, GroupLevel> levels;
  for (auto& [group, values] : elapsed) {
    const double least = *std::min_element(values.begin(), values.end());
    levels[group] = {Nanos::FromSeconds(least), Nanos::FromSeconds(Median(std::move(values)))};
  }
  return levels;
}

void Add(const RankIteration& rank, const std::map<GroupId, GroupLevel>& levels, RankTotals& sum) {
  const Nanos busy = rank.device.count > 0 ? rank.device : rank.cpu;
  const Nanos cpu = std::min(busy, rank.duration);
  const Nanos blocked = std::min(rank.blocked, rank.duration - cpu);
  sum.compute += cpu;
  sum.idle += blocked;
  sum.non_compute += rank.duration - cpu - blocked;
  Nanos late;
  for (const GroupIteration& g : rank.groups) {
    const GroupLevel& level = levels.at(g.group);
    sum.communication += g.elapsed;
    sum.wait += g.elapsed - level.shortest;
    late = std::max(late, level.median - g.elapsed);
  }
  sum.late += late;
}

}  // namespace

std::vector<RankTotals> TotalsOf(const JobView& view) {
  std::map<RankId, RankTotals> sums;
  for (const IterationSummary& iteration : view.window) {
    const auto levels = LevelsOf(iteration);
    for (const RankIteration& rank : iteration.ranks) Add(rank, levels, sums[rank.rank]);
  }
  for (const RankFacts& facts : view.ranks) {
    if (const auto it = sums.find(facts.rank); it != sums.end()) it->second.node = facts.node;
  }
  std::vector<RankTotals> out;
  for (auto& [rank, sum] : sums) {
    sum.rank = rank;
    const double communication = sum.communication.Seconds();
    if (communication > 0) {
      sum.overlap_ratio = std::clamp(1 - sum.idle.Seconds() / communication, 0.0, 1.0);
    }
    out.push_back(sum);
  }
  return out;
}

}  // namespace fathom::diagnosis
