#include "diagnosis/graph/rings.h"

#include <algorithm>
#include <map>

namespace fathom::diagnosis {
namespace {

struct Neighbours {
  std::set<RankId> before, after;  // who sends to it, and to whom it sends
};

using Members = std::map<RankId, Neighbours>;

// Each sends to one rank, which receives from it alone: then all lie on rounds. In a round of two,
// or of one that sends to itself, who comes before is who comes after.
bool IsRing(const Members& members) {
  return std::all_of(members.begin(), members.end(), [&](const auto& each) {
    const auto& [rank, mine] = each;
    if (mine.before.size() != 1 || mine.after.size() != 1) return false;
    const auto next = members.find(*mine.after.begin());
    return next != members.end() && next->second.before == std::set<RankId>{rank} &&
           mine.before != mine.after;
  });
}

}  // namespace

std::set<GroupId> RingsOf(const JobView& view) {
  std::map<GroupId, Members> groups;
  std::set<GroupId> unnamed;
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      if (!IsPointToPoint(op.kind)) continue;
      if (op.peer == kNoRank) unnamed.insert(op.group);
      Neighbours& mine = groups[op.group][rank];
      (op.kind == CollectiveKind::kSend ? mine.after : mine.before).insert(op.peer);
    }
  }
  std::set<GroupId> rings;
  for (const auto& [group, members] : groups) {
    if (!unnamed.contains(group) && IsRing(members)) rings.insert(group);
  }
  return rings;
}

}  // namespace fathom::diagnosis
