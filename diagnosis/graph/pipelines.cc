#include "diagnosis/graph/pipelines.h"

#include <algorithm>
#include <set>

#include "diagnosis/graph/rings.h"
#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

// Ranks tied together; each set has one of its ranks as its name.
class Ties {
 public:
  void Tie(RankId a, RankId b) { parent_[NameOf(a)] = NameOf(b); }

  RankId NameOf(RankId rank) {
    RankId at = parent_.try_emplace(rank, rank).first->second;
    while (at != parent_.at(at)) at = parent_.at(at);
    parent_[rank] = at;
    return at;
  }

  std::vector<RankId> Ranks() const {
    std::vector<RankId> ranks;
    for (const auto& [rank, parent] : parent_) ranks.push_back(rank);
    return ranks;
  }

 private:
  std::map<RankId, RankId> parent_;
};

void TieMembers(const JobView& view, GroupId id, Ties& ties) {
  const Group* group = FindGroup(view, id);
  if (group == nullptr || group->members.empty()) return;
  for (const RankId member : group->members) ties.Tie(member, group->members.front());
}

}  // namespace

Pipelines::Pipelines(const JobView& view) : view_(view) {
  Ties ties;
  const std::set<GroupId> rings = RingsOf(view);
  std::set<GroupId> without_peer;
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      if (!IsPointToPoint(op.kind) || rings.contains(op.group)) continue;
      if (op.peer != kNoRank) {
        ties.Tie(rank, op.peer);
      } else {
        without_peer.insert(op.group);
      }
    }
  }
  for (const GroupId group : without_peer) TieMembers(view, group, ties);
  std::map<RankId, std::size_t> numbers;
  for (const RankId rank : ties.Ranks()) {
    of_[rank] = numbers.try_emplace(ties.NameOf(rank), numbers.size()).first->second;
  }
  size_ = numbers.size();
}

std::optional<std::size_t> Pipelines::Of(RankId rank) const {
  const auto at = of_.find(rank);
  if (at == of_.end()) return std::nullopt;
  return at->second;
}

bool Pipelines::ArePeers(const Group& group) const {
  std::set<std::size_t> seen;
  return std::all_of(group.members.begin(), group.members.end(), [&](RankId member) {
    const auto pipeline = Of(member);
    return pipeline && seen.insert(*pipeline).second;
  });
}

bool Pipelines::AreOneStage(const std::vector<RankId>& ranks) const {
  const std::set<RankId> stage(ranks.begin(), ranks.end());
  std::set<std::size_t> with, besides;
  for (const auto& [rank, pipeline] : of_) (stage.contains(rank) ? with : besides).insert(pipeline);
  if (with.size() != size_ || stage.size() != size_ || besides.size() != size_) return false;
  return std::none_of(view_.groups.begin(), view_.groups.end(), [&](const Group& group) {
    if (!ArePeers(group)) return false;
    const auto inside = std::count_if(group.members.begin(), group.members.end(),
                                      [&](RankId member) { return stage.contains(member); });
    return inside != 0 && static_cast<std::size_t>(inside) != group.members.size();
  });
}

}  // namespace fathom::diagnosis
