#include "diagnosis/watch/rows_wanted.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "diagnosis/graph/wait_for.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// What a collector keeps of a job, and asks for in a moment; 150 bytes each.
constexpr std::size_t kMostRows = 400'000;

std::size_t RanksPerSuspect(const DiagnosisConfig& config) {
  return std::max<std::size_t>(1, config.all_ranks_up_to / 4);
}

// All ranks of a small job, fewer where an iteration has hundreds of ops.
std::size_t RanksAtMost(const JobView& view, const DiagnosisConfig& config) {
  std::vector<double> ops;
  if (!view.window.empty()) {
    for (const RankIteration& r : view.window.back().ranks) ops.push_back(r.ops);
  }
  const auto iterations = static_cast<std::size_t>(2 * config.baseline_iterations);
  const auto of_one = std::max<std::size_t>(1, static_cast<std::size_t>(Median(ops))) * iterations;
  const std::size_t fewest = RanksPerSuspect(config);
  return std::clamp<std::size_t>(kMostRows / of_one, fewest, config.all_ranks_up_to);
}

std::vector<RankId> AllRanks(const JobView& view) {
  std::vector<RankId> ranks;
  for (const RankFacts& r : view.ranks) ranks.push_back(r.rank);
  if (!view.window.empty()) {
    for (const RankIteration& r : view.window.back().ranks) ranks.push_back(r.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Own time of a rank (not blocked), an entry an iteration.
struct OwnTimes {
  RankId rank;
  std::vector<double> now, before;
};

// Requires: `times` is sorted by rank, as iterations are.
void AddOwn(const IterationSummary& iteration, std::vector<double> OwnTimes::*to,
            std::vector<OwnTimes>& times) {
  std::size_t place = 0;
  for (const RankIteration& rank : iteration.ranks) {
    while (place < times.size() && times[place].rank < rank.rank) ++place;
    if (place == times.size()) return;
    if (times[place].rank != rank.rank) continue;
    (times[place].*to).push_back((rank.duration - rank.blocked).Seconds());
  }
}

struct Suspect {
  RankId rank;
  double excess = 0;  // of its own time, now against before; seconds
};
using Suspects = std::vector<Suspect>;

// All ranks, by how much more time of their own they take now than before, most first.
Suspects ByOwnExcess(const JobView& view, const std::vector<RankId>& all,
                     const std::set<Iteration>& irregular, const std::set<Iteration>& baseline) {
  std::vector<OwnTimes> times;
  for (const RankId rank : all) times.push_back({rank, {}, {}});
  for (const IterationSummary& it : view.window) {
    if (irregular.contains(it.index)) AddOwn(it, &OwnTimes::now, times);
    if (baseline.contains(it.index)) AddOwn(it, &OwnTimes::before, times);
  }
  Suspects order;
  for (OwnTimes& own : times) {
    if (own.now.empty()) continue;
    order.push_back({own.rank, Median(std::move(own.now)) - Median(std::move(own.before))});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Suspect& a, const Suspect& b) { return a.excess > b.excess; });
  return order;
}

// The groups of up to `limit` members, the smallest first.
std::vector<const Group*> SmallGroups(const JobView& view, std::size_t limit) {
  std::vector<const Group*> groups;
  for (const Group& group : view.groups) {
    if (group.members.size() <= limit) groups.push_back(&group);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group* a, const Group* b) {
    return a->members.size() < b->members.size();
  });
  return groups;
}

bool Holds(const Group& group, RankId rank) {
  return std::find(group.members.begin(), group.members.end(), rank) != group.members.end();
}

void AddCompany(RankId rank, const std::vector<const Group*>& groups, std::size_t most,
                std::set<RankId>& chosen) {
  for (const Group* group : groups) {
    if (!Holds(*group, rank)) continue;
    std::set<RankId> with = chosen;
    with.insert(group->members.begin(), group->members.end());
    if (with.size() > most) return;
    chosen = std::move(with);
  }
}

// The shortest op of a rank on one communicator, an entry an iteration; seconds.
struct ShortestOps {
  std::vector<double> now, before;
};

// Enough to judge the first `suspects` of `order`: their company, then those whose rows are at
// hand, who comes next in suspicion, and the most innocent ones.
std::vector<RankId> RanksAround(const JobView& view, const Suspects& order, std::size_t suspects,
                                std::size_t limit, const Episode& known) {
  std::set<RankId> chosen;
  for (std::size_t s = 0; s < suspects; ++s) chosen.insert(order[s].rank);
  const auto groups = SmallGroups(view, limit);
  for (std::size_t s = 0; s < suspects; ++s) {
    AddCompany(order[s].rank, groups, limit * 3 / 4, chosen);
  }
  for (RankId rank : known.asked) {
    if (chosen.size() < limit) chosen.insert(rank);
  }
  const std::size_t next = std::min(order.size(), suspects + limit / 8);
  for (std::size_t s = suspects; s < next && chosen.size() < limit; ++s) {
    chosen.insert(order[s].rank);
  }
  for (auto it = order.rbegin(); it != order.rend() && chosen.size() < limit; ++it) {
    chosen.insert(it->rank);
  }
  return {chosen.begin(), chosen.end()};
}

// The most suspicious ranks, and those they talk to in their smaller groups; the rest of the limit
// is filled by the most innocent ones, for comparison.
std::vector<RankId> FewRanks(const JobView& view, const Suspects& order, std::size_t limit) {
  const std::size_t suspects = std::min(order.size(), limit / 4);
  std::set<RankId> chosen;
  for (std::size_t s = 0; s < suspects; ++s) chosen.insert(order[s].rank);
  const auto groups = SmallGroups(view, limit);
  // The most suspicious one's company comes first; a quarter is left for the innocent.
  for (std::size_t s = 0; s < suspects && chosen.size() < limit * 3 / 4; ++s) {
    for (const Group* group : groups) {
      const auto& members = group->members;
      if (chosen.size() + members.size() > limit * 3 / 4) break;
      if (!Holds(*group, order[s].rank)) continue;
      chosen.insert(members.begin(), members.end());
    }
  }
  for (auto it = order.rbegin(); it != order.rend() && chosen.size() < limit; ++it) {
    chosen.insert(it->rank);
  }
  return {chosen.begin(), chosen.end()};
}

// On how many communicators, smaller than the job, the shortest op of a rank takes link_factor
// times as long as before.
std::size_t SlowChannelsOf(const std::map<GroupId, ShortestOps>& groups, double factor) {
  return static_cast<std::size_t>(
      std::count_if(groups.begin(), groups.end(), [factor](const auto& group) {
        const double before = Median(group.second.before);
        return before > 0 && Median(group.second.now) >= factor * before;
      }));
}

// Ranks by that number, most first; those of none are left out.
std::vector<RankId> BySlowChannels(const JobView& view, const std::set<Iteration>& irregular,
                                   const std::set<Iteration>& baseline, double factor) {
  std::set<GroupId> of_all;
  for (const Group& group : view.groups) {
    if (group.members.size() >= view.world_size) of_all.insert(group.id);
  }
  std::map<RankId, std::map<GroupId, ShortestOps>> seen;
  for (const IterationSummary& it : view.window) {
    const bool now = irregular.contains(it.index);
    if (!now && !baseline.contains(it.index)) continue;
    for (const RankIteration& rank : it.ranks) {
      for (const GroupIteration& group : rank.groups) {
        if (of_all.contains(group.group) || group.shortest.count <= 0) continue;
        ShortestOps& ops = seen[rank.rank][group.group];
        (now ? ops.now : ops.before).push_back(group.shortest.Seconds());
      }
    }
  }
  std::vector<std::pair<std::size_t, RankId>> order;
  for (const auto& [rank, groups] : seen) {
    const std::size_t slow = SlowChannelsOf(groups, factor);
    if (slow > 0) order.emplace_back(slow, rank);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<RankId> ranks;
  for (const auto& [slow, rank] : order) ranks.push_back(rank);
  return ranks;
}

// Those on slow channels, and a quarter of others: where nobody's own time tells of a suspect, the
// network may be.
std::vector<RankId> OnSlowChannels(const std::vector<RankId>& slow, const Suspects& order,
                                   std::size_t limit) {
  std::set<RankId> chosen;
  for (std::size_t i = 0; i < slow.size() && chosen.size() < limit * 3 / 4; ++i) {
    chosen.insert(slow[i]);
  }
  for (auto it = order.rbegin(); it != order.rend() && chosen.size() < limit; ++it) {
    chosen.insert(it->rank);
  }
  return {chosen.begin(), chosen.end()};
}

// What the chosen iterations took beyond the baseline, in the middle; seconds.
double ExcessOf(const JobSeries& series, const std::set<Iteration>& irregular) {
  std::vector<double> excess;
  for (const SeriesPoint& point : series.points) {
    if (irregular.contains(point.index)) excess.push_back(point.seconds - series.reference);
  }
  return Median(std::move(excess));
}

// Whose own time grew by enough to be why the iterations did.
std::size_t SuspectsOf(const Suspects& order, double excess, const DiagnosisConfig& config) {
  if (excess <= 0) return 0;
  const auto last = std::find_if(order.begin(), order.end(), [&](const Suspect& suspect) {
    return suspect.excess < config.explains_share * excess;
  });
  return static_cast<std::size_t>(last - order.begin());
}

std::set<Iteration> Newest(const JobSeries& series, std::size_t from, std::size_t to, bool regular,
                           std::int32_t count) {
  std::set<Iteration> out;
  for (std::size_t i = to; i-- > from && out.size() < static_cast<std::size_t>(count);) {
    if (series.points[i].regular == regular) out.insert(series.points[i].index);
  }
  return out;
}

}  // namespace

RowsWanted RowsForSlow(const JobView& view, const JobSeries& series, Iteration onset,
                       const Episode& known, const DiagnosisConfig& config) {
  const std::size_t first = series.PlaceOf(onset);
  const auto irregular =
      Newest(series, first, series.points.size(), false, config.baseline_iterations);
  const auto baseline = Newest(series, 0, first, true, config.baseline_iterations);
  RowsWanted wanted;
  std::merge(irregular.begin(), irregular.end(), baseline.begin(), baseline.end(),
             std::back_inserter(wanted.iterations));
  wanted.ranks = AllRanks(view);
  const std::size_t most = RanksAtMost(view, config);
  if (wanted.ranks.size() > most) {
    const auto order = ByOwnExcess(view, wanted.ranks, irregular, baseline);
    const std::size_t suspects = SuspectsOf(order, ExcessOf(series, irregular), config);
    const std::size_t few = suspects * RanksPerSuspect(config);
    const bool fits = few < config.all_ranks_up_to && few <= most;
    const bool told = suspects > 0 && fits && !known.wide;
    const auto slow = suspects > 0 ? std::vector<RankId>()
                                   : BySlowChannels(view, irregular, baseline, config.link_factor);
    wanted.ranks = told           ? RanksAround(view, order, suspects, few, known)
                   : slow.empty() ? FewRanks(view, order, most)
                                  : OnSlowChannels(slow, order, most);
  }
  return wanted;
}

RowsWanted RowsForStall(const JobView& view, const DiagnosisConfig& config) {
  RowsWanted wanted;
  if (view.window.empty()) return wanted;
  const std::int64_t last = view.window.back().index.value;
  const std::int64_t first = std::max<std::int64_t>(0, last - config.order_iterations + 1);
  for (std::int64_t i = first; i <= last + 1; ++i) wanted.iterations.push_back(Iteration(i));
  wanted.ranks = AllRanks(view);
  // Of a large job only those that wait in a ring: all else is told without rows.
  if (wanted.ranks.size() > config.all_ranks_up_to) {
    wanted.ranks = BuildWaitFor(view, config.stall_floor, config.message_gap).Ring();
    if (wanted.ranks.size() > config.all_ranks_up_to) wanted.ranks.resize(config.all_ranks_up_to);
  }
  return wanted;
}

}  // namespace fathom::diagnosis
