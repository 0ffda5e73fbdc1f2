#include "diagnosis/graph/rings.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace fathom::diagnosis {
namespace {

struct Neighbours {
  std::set<RankId> before, after;  // who sends to it, and to whom it sends
};

using Members = std::map<RankId, Neighbours>;

// Ranks from `first` on until it comes again; 0: it does not.
std::size_t LengthFrom(const Members& members, RankId first) {
  RankId at = first;
  for (std::size_t length = 1; length <= members.size(); ++length) {
    const auto mine = members.find(at);
    if (mine == members.end()) return 0;
    const RankId next = *mine->second.after.begin();
    const auto theirs = members.find(next);
    if (theirs == members.end() || *theirs->second.before.begin() != at) return 0;
    if (next == first) return length;
    at = next;
  }
  return 0;
}

bool IsRing(const Members& members) {
  constexpr std::size_t kShortest = 3;
  const bool single = std::all_of(members.begin(), members.end(), [](const auto& each) {
    return each.second.before.size() == 1 && each.second.after.size() == 1;
  });
  return single && std::all_of(members.begin(), members.end(), [&](const auto& each) {
           return LengthFrom(members, each.first) >= kShortest;
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
