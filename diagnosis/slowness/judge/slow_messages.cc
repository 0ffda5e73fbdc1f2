#include "diagnosis/slowness/judge/slow_messages.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "diagnosis/graph/message_groups.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// The shortest message that each member sent, one an iteration.
using Shortest = std::map<RankId, std::vector<double>>;

Shortest ShortestIn(const JobView& view, const std::set<GroupId>& messages,
                    const std::set<RankId>& members, const std::vector<Iteration>& wanted) {
  Shortest shortest;
  for (const IterationSummary& iteration : view.window) {
    if (!std::binary_search(wanted.begin(), wanted.end(), iteration.index)) continue;
    for (const RankIteration& rank : iteration.ranks) {
      if (!members.contains(rank.rank)) continue;
      double least = 0;
      for (const GroupIteration& group : rank.groups) {
        if (!messages.contains(group.group)) continue;
        const double seconds = group.shortest.Seconds();
        if (seconds > 0) least = least > 0 ? std::min(least, seconds) : seconds;
      }
      if (least > 0) shortest[rank.rank].push_back(least);
    }
  }
  return shortest;
}

}  // namespace

SlowMessages FindSlowMessages(const Case& c, const std::vector<RankId>& members) {
  const std::set<GroupId> messages = MessageGroups(c.view);
  if (messages.empty()) return {};
  const std::set<RankId> wanted(members.begin(), members.end());
  const Shortest before = ShortestIn(c.view, messages, wanted, c.graph.baseline());
  Shortest now = ShortestIn(c.view, messages, wanted, c.graph.irregular());
  SlowMessages found;
  for (const RankId rank : wanted) {
    const auto usual = before.find(rank);
    if (usual == before.end() || !now.contains(rank)) return {};
    const double then = Median(usual->second), since = Median(std::move(now[rank]));
    const double growth = since / then;
    if (growth >= c.config.link_factor && since - then >= c.graph.wait_floor()) {
      found.growth = found.ranks.empty() ? growth : std::min(found.growth, growth);
      found.ranks.push_back(rank);
    } else {
      found.others = std::max(found.others, growth);
    }
  }
  if (found.others > c.config.link_contrast() || 2 * found.ranks.size() > wanted.size()) return {};
  return found;
}

}  // namespace fathom::diagnosis
