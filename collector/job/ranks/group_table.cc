#include "collector/job/ranks/group_table.h"

#include <algorithm>

#include "collector/admission/limits.h"
#include "fathom/v1/job.pb.h"

namespace fathom::collector {

Rejection GroupTable::Merge(const v1::GroupInfo& info, std::size_t ranks,
                            std::uint32_t world_size) {
  const bool known = groups_.contains(GroupId(info.id()));
  if (!known && groups_.size() >= 4 * ranks + 64) return RejectReason::kTooManyGroups;
  const auto count = static_cast<std::size_t>(info.members_size());
  if (members_ + count > kMaxGroupsPerRank * std::max<std::size_t>(ranks, 1) + world_size + 1024) {
    return RejectReason::kTooManyMembers;
  }
  if (info.size() > world_size || info.my_rank() >= std::max(info.size(), 1u)) {
    return RejectReason::kBadNumber;
  }
  for (const std::uint32_t member : info.members()) {
    if (member >= world_size) return RejectReason::kBadRank;
  }
  Entry& entry = groups_[GroupId(info.id())];
  diagnosis::Group& group = entry.group;
  if (!known) group = {GroupId(info.id()), info.name(), info.description(), info.size(), {}, true};
  if (group.size != info.size() || (!info.name().empty() && group.name != info.name())) {
    ++contradictions_;
  }
  if (group.name.empty()) group.name = info.name();
  if (group.description.empty()) group.description = info.description();
  group.guessed = group.guessed && info.guessed();
  if (count != 0) {
    MergeMembers(info, entry);
  } else {
    MergePlace(info, entry);
  }
  return std::nullopt;
}

void GroupTable::MergeMembers(const v1::GroupInfo& info, Entry& entry) {
  std::vector<RankId>& members = entry.group.members;
  if (members.empty()) {
    members.reserve(static_cast<std::size_t>(info.members_size()));
    for (const std::uint32_t member : info.members()) members.emplace_back(member);
    members_ += members.size();
    entry.places.clear();
    return;
  }
  const bool same =
      std::equal(members.begin(), members.end(), info.members().begin(), info.members().end(),
                 [](RankId a, std::uint32_t b) { return a.value == b; });
  contradictions_ += !same;
}

void GroupTable::MergePlace(const v1::GroupInfo& info, Entry& entry) {
  if (!entry.group.members.empty() || info.size() == 0) return;
  const auto [at, added] = entry.places.emplace(info.my_rank(), RankId(info.rank()));
  if (!added && at->second.value != info.rank()) ++contradictions_;
  if (entry.places.size() != entry.group.size) return;
  for (const auto& [place, rank] : entry.places) entry.group.members.push_back(rank);
  members_ += entry.group.members.size();
  entry.places.clear();
}

RankId GroupTable::MemberAt(GroupId group, std::uint32_t place) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return kNoRank;
  const std::vector<RankId>& members = found->second.group.members;
  if (!members.empty()) return place < members.size() ? members[place] : kNoRank;
  const auto at = found->second.places.find(place);
  return at == found->second.places.end() ? kNoRank : at->second;
}

std::vector<diagnosis::Group> GroupTable::View() const {
  std::vector<diagnosis::Group> view;
  view.reserve(groups_.size());
  for (const auto& [id, entry] : groups_) view.push_back(entry.group);
  return view;
}

std::size_t GroupTable::with_members() const {
  return static_cast<std::size_t>(
      std::count_if(groups_.begin(), groups_.end(),
                    [](const auto& entry) { return !entry.second.group.members.empty(); }));
}

void GroupTable::Clear() {
  groups_.clear();
  members_ = 0;
  contradictions_ = 0;
}

}  // namespace fathom::collector
