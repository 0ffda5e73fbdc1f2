#include "diagnosis/graph/group_transfers.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "diagnosis/graph/message_groups.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

struct Least {
  double seconds = std::numeric_limits<double>::infinity();
  std::size_t members = 0;
};

using Places = std::unordered_map<GroupId, std::size_t>;

std::vector<Least> LeastElapsed(const IterationSummary& iteration, const Places& places) {
  std::vector<Least> least(places.size());
  for (const RankIteration& rank : iteration.ranks) {
    for (const GroupIteration& group : rank.groups) {
      const auto place = places.find(group.group);
      if (place == places.end()) continue;
      Least& of = least[place->second];
      of.seconds = std::min(of.seconds, group.elapsed.Seconds());
      ++of.members;
    }
  }
  return least;
}

// Whoever did not report may be the one that came last.
bool AllReported(const Least& least, const Group& group) {
  return least.members > 1 && least.members >= group.size;
}

// In the order of the groups; a time an iteration where all members reported.
std::vector<std::vector<double>> TimesIn(const JobView& view,
                                         const std::vector<const Group*>& groups,
                                         const std::vector<Iteration>& wanted) {
  Places places;
  for (const Group* group : groups) places.emplace(group->id, places.size());
  std::vector<std::vector<double>> times(groups.size());
  for (const IterationSummary& iteration : view.window) {
    if (!std::binary_search(wanted.begin(), wanted.end(), iteration.index)) continue;
    const std::vector<Least> least = LeastElapsed(iteration, places);
    for (std::size_t g = 0; g < least.size(); ++g) {
      if (AllReported(least[g], *groups[g])) times[g].push_back(least[g].seconds);
    }
  }
  return times;
}

}  // namespace

std::vector<GroupTransfers> TransfersOf(const JobView& view,
                                        const std::vector<Iteration>& irregular,
                                        const std::vector<Iteration>& baseline) {
  const std::set<GroupId> messages = MessageGroups(view);
  std::vector<const Group*> groups;
  for (const Group& group : view.groups) {
    if (!messages.contains(group.id)) groups.push_back(&group);
  }
  auto now = TimesIn(view, groups, irregular);
  auto before = TimesIn(view, groups, baseline);
  std::vector<GroupTransfers> transfers;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (now[g].empty() || now[g].size() < irregular.size()) continue;
    if (before[g].empty() || before[g].size() < baseline.size()) continue;
    transfers.push_back({groups[g]->id, Median(std::move(before[g])), std::move(now[g])});
  }
  return transfers;
}

}  // namespace fathom::diagnosis
