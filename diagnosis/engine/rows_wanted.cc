#include "diagnosis/engine/rows_wanted.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fathom::diagnosis {
namespace {

std::vector<RankId> AllRanks(const JobView& view) {
  std::set<RankId> ranks;
  for (const RankFacts& r : view.ranks) ranks.insert(r.rank);
  if (!view.window.empty()) {
    for (const RankIteration& r : view.window.back().ranks) ranks.insert(r.rank);
  }
  return {ranks.begin(), ranks.end()};
}

// Per group, the largest spread of elapsed time among its members in one iteration: some waited
// long, some did not, so somebody came late there.
std::map<GroupId, Nanos> SpreadOf(const IterationSummary& iteration) {
  std::map<GroupId, std::pair<Nanos, Nanos>> range;
  for (const RankIteration& rank : iteration.ranks) {
    for (const GroupIteration& g : rank.groups) {
      auto [it, fresh] = range.try_emplace(g.group, g.elapsed, g.elapsed);
      if (fresh) continue;
      it->second.first = std::min(it->second.first, g.elapsed);
      it->second.second = std::max(it->second.second, g.elapsed);
    }
  }
  std::map<GroupId, Nanos> spread;
  for (const auto& [group, least_most] : range)
    spread[group] = least_most.second - least_most.first;
  return spread;
}

std::vector<RankId> RanksOfLateGroups(const JobView& view, const SeriesPoint& worst,
                                      const DiagnosisConfig& config) {
  const auto it = std::find_if(view.window.begin(), view.window.end(),
                               [&](const IterationSummary& s) { return s.index == worst.index; });
  if (it == view.window.end()) return {};
  std::vector<std::pair<Nanos, GroupId>> by_spread;
  for (const auto& [group, spread] : SpreadOf(*it)) by_spread.emplace_back(spread, group);
  std::sort(by_spread.rbegin(), by_spread.rend());
  std::set<RankId> chosen;
  for (const auto& [spread, id] : by_spread) {
    for (const Group& group : view.groups) {
      if (group.id == id) chosen.insert(group.members.begin(), group.members.end());
      if (chosen.size() > config.all_ranks_up_to) break;
    }
    if (chosen.size() >= config.all_ranks_up_to) break;
  }
  std::vector<RankId> ranks(chosen.begin(), chosen.end());
  if (ranks.size() > 2 * config.all_ranks_up_to) ranks.resize(2 * config.all_ranks_up_to);
  return ranks;
}

}  // namespace

RowsWanted RowsForSlow(const JobView& view, const JobSeries& series, std::size_t onset,
                       const DiagnosisConfig& config) {
  RowsWanted wanted;
  std::set<Iteration> iterations;
  std::size_t taken = 0;
  for (std::size_t i = series.points.size();
       i-- > onset && taken < static_cast<std::size_t>(config.irregular_rows);) {
    if (series.points[i].regular) continue;
    iterations.insert(series.points[i].index);
    ++taken;
  }
  taken = 0;
  for (std::size_t i = onset; i-- > 0 && taken < static_cast<std::size_t>(config.baseline_rows);) {
    if (!series.points[i].regular) continue;
    iterations.insert(series.points[i].index);
    ++taken;
  }
  wanted.iterations.assign(iterations.begin(), iterations.end());
  wanted.ranks = AllRanks(view);
  if (wanted.ranks.size() > config.all_ranks_up_to) {
    wanted.ranks = RanksOfLateGroups(view, series.points.back(), config);
  }
  return wanted;
}

RowsWanted RowsForStall(const JobView& view, const DiagnosisConfig& config) {
  RowsWanted wanted;
  if (view.window.empty()) return wanted;
  const std::int64_t last = view.window.back().index.value;
  wanted.iterations = {Iteration(last), Iteration(last + 1)};
  wanted.ranks = AllRanks(view);
  if (wanted.ranks.size() > config.all_ranks_up_to) wanted.ranks.resize(config.all_ranks_up_to);
  return wanted;
}

}  // namespace fathom::diagnosis
