#include "collector/import/flight_recorder/dump_set.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_format.h"
#include "collector/import/reading/group_claims.h"
#include "diagnosis/model/lookup.h"

namespace fathom::collector::flight_recorder {
namespace {

std::optional<std::uint64_t> AsNumber(std::string_view name) {
  const std::string_view text = name.substr(0, name.find(' '));  // as told apart from others
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Names of pg_config in the order in which the job made the groups; empty if that cannot be told.
std::vector<std::string> InOrderOfCreation(const Dump& dump) {
  std::vector<std::pair<std::uint64_t, std::string>> numbered;
  for (const DumpGroup& group : dump.groups) {
    const auto number = AsNumber(group.name);
    if (!number) return {};
    numbered.emplace_back(*number, group.name);
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<std::string> names;
  for (auto& [number, name] : numbered) names.push_back(std::move(name));
  return names;
}

void NameGroupsApart(std::map<RankId, Dump>& dumps) {
  std::vector<GroupClaim> claims;
  for (const auto& [rank, dump] : dumps) {
    for (const DumpGroup& group : dump.groups) {
      claims.push_back({rank.value, group.name, group.ranks});
    }
  }
  for (const auto& [of, name] : NamesApart(std::move(claims))) {
    Dump& dump = dumps.at(RankId(of.first));
    for (DumpGroup& group : dump.groups) {
      if (group.name == of.second) group.name = name;
    }
    for (DumpEntry& entry : dump.entries) {
      if (entry.group_name == of.second) entry.group_name = name;
    }
  }
}

std::vector<std::int64_t> StatusIds(const Dump& dump) {
  std::vector<std::int64_t> ids;
  for (const DumpStatus& status : dump.status) ids.push_back(status.pg_id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

// A group that counted ops of which none is listed, though the ring has kept all entries.
bool HasSilentGroup(const Dump& dump) {
  if (dump.entries.empty() || dump.entries.front().record_id != 0) return false;
  return std::any_of(dump.status.begin(), dump.status.end(), [&](const DumpStatus& status) {
    return status.enqueued > 0 &&
           std::none_of(dump.entries.begin(), dump.entries.end(),
                        [&](const DumpEntry& entry) { return entry.pg_id == status.pg_id; });
  });
}

}  // namespace

DumpSet::DumpSet(std::map<RankId, Dump> dumps) : dumps_(std::move(dumps)) {
  NameGroupsApart(dumps_);
  for (const auto& [rank, dump] : dumps_) NameGroups(rank, dump);
  for (const auto& [rank, dump] : dumps_) AddConfig(rank, dump);
  for (const auto& [rank, dump] : dumps_) AddEntries(rank, dump);
  SizeWorld();
  CompleteGuessed();
}

void DumpSet::NameGroups(RankId rank, const Dump& dump) {
  auto& names = names_[rank];
  for (const DumpEntry& entry : dump.entries) {
    if (entry.pg_id >= 0 && !entry.group_name.empty()) names.emplace(entry.pg_id, entry.group_name);
  }
  const std::vector<std::string> created = InOrderOfCreation(dump);
  const std::vector<std::int64_t> ids = StatusIds(dump);
  if (created.size() != ids.size()) return;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto known = names.find(ids[i]);
    if (known != names.end() && known->second != created[i]) return;  // not that order after all
  }
  for (std::size_t i = 0; i < ids.size(); ++i) names.emplace(ids[i], created[i]);
}

void DumpSet::AddConfig(RankId rank, const Dump& dump) {
  for (const DumpGroup& from : dump.groups) {
    std::vector<RankId> members;
    for (const std::uint32_t r : from.ranks) members.emplace_back(r);
    // With Gloo the only group has no name and often no ranks.
    if (from.name.empty() || !diagnosis::Contains(members, rank)) continue;
    JobGroup& group = groups_[from.name];
    if (group.members.empty()) {
      group.members = std::move(members);
      group.description = from.description;
    } else if (group.members != members) {
      contradicts_ = true;
      notes_.push_back(absl::StrFormat("rank %d: other members of group %s than a dump before it",
                                       rank.value, from.name));
    }
  }
}

std::string DumpSet::NameOf(RankId rank, const DumpEntry& entry) const {
  if (!entry.group_name.empty()) return entry.group_name;
  const auto& names = names_.at(rank);
  const auto known = names.find(entry.pg_id);
  return known == names.end() ? std::string() : known->second;
}

void DumpSet::AddEntries(RankId rank, const Dump& dump) {
  for (const DumpEntry& entry : dump.entries) {
    const std::string name = NameOf(rank, entry);
    if (name.empty()) continue;
    JobGroup& group = groups_[name];
    if (group.members.empty()) group.guessed = true;
    if (group.description.empty()) group.description = entry.description;
    if (group.guessed && !diagnosis::Contains(group.members, rank)) group.members.push_back(rank);
    // op_id counts both kinds of ops, collective_seq_id only collectives.
    group.point_to_point |= entry.is_p2p || (entry.op_id && entry.op_id != entry.collective_seq);
  }
}

void DumpSet::SizeWorld() {
  for (const auto& [rank, dump] : dumps_) {
    world_size_ = std::max(world_size_, rank.value + 1);
    for (const DumpGroup& group : dump.groups) {
      for (const std::uint32_t r : group.ranks) world_size_ = std::max(world_size_, r + 1);
    }
  }
}

std::vector<RankId> DumpSet::missing() const {
  std::vector<RankId> missing;
  for (std::uint32_t r = 0; r < world_size_; ++r) {
    if (!dumps_.contains(RankId(r))) missing.emplace_back(r);
  }
  return missing;
}

void DumpSet::CompleteGuessed() {
  const std::vector<RankId> absent = missing();
  std::map<std::string, std::size_t> largest;
  for (const auto& [name, group] : groups_) {
    largest[group.description] = std::max(largest[group.description], group.members.size());
  }
  for (auto& [name, group] : groups_) {
    if (!group.guessed) continue;
    const bool world = group.description == kDefaultGroup;
    if (world || group.members.size() + absent.size() == largest[group.description]) {
      group.members.insert(group.members.end(), absent.begin(), absent.end());
    }
    std::sort(group.members.begin(), group.members.end());
  }
}

bool DumpSet::hides_point_to_point() const {
  const bool counted = std::any_of(groups_.begin(), groups_.end(),
                                   [](const auto& group) { return group.second.point_to_point; });
  bool listed = false;
  bool gloo = false;  // NCCL lists all messages; it counts ops that it coalesced like them
  bool silent_group = false;
  for (const auto& [rank, dump] : dumps_) {
    listed |= std::any_of(dump.entries.begin(), dump.entries.end(),
                          [](const DumpEntry& entry) { return entry.is_p2p; });
    gloo |= dump.gloo;
    silent_group |= dump.gloo && HasSilentGroup(dump);
  }
  return !listed && gloo && (counted || silent_group);
}

std::map<std::string, Progress> DumpSet::ProgressOf(RankId rank) const {
  const Dump& dump = dumps_.at(rank);
  std::map<std::string, Progress> progress;
  std::map<std::string, std::uint64_t> lowest_open;
  for (const DumpEntry& entry : dump.entries) {
    const std::string name = NameOf(rank, entry);
    if (name.empty() || !entry.collective_seq || *entry.collective_seq < 0) continue;
    const auto count = static_cast<std::uint64_t>(*entry.collective_seq);
    Progress& of = progress[name];
    of.entered = std::max(of.entered, count);
    if (entry.is_p2p || !entry.open || count == 0) continue;
    const auto [at, first] = lowest_open.emplace(name, count);
    if (!first) at->second = std::min(at->second, count);
  }
  for (const DumpStatus& status : dump.status) {
    const auto name = names_.at(rank).find(status.pg_id);
    if (name == names_.at(rank).end() || status.enqueued < 0) continue;
    const auto group = groups_.find(name->second);
    if (group == groups_.end() || group->second.point_to_point) continue;
    Progress& of = progress[name->second];
    of.entered = std::max(of.entered, static_cast<std::uint64_t>(status.enqueued));
  }
  for (auto& [name, of] : progress) {
    const auto open = lowest_open.find(name);
    of.completed = open == lowest_open.end() ? of.entered : open->second - 1;
  }
  return progress;
}

}  // namespace fathom::collector::flight_recorder
