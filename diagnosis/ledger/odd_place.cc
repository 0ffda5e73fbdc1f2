#include "diagnosis/ledger/odd_place.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

using Ranks = std::set<RankId>;

Ranks MembersOf(const Group& group) { return {group.members.begin(), group.members.end()}; }

bool StaysOnNode(const JobView& view, const Group& group) {
  const auto nodes = NodesOf(view, group.members);
  return nodes.size() == 1 && !nodes.contains("");
}

bool AllCrossNodes(const JobView& view, const std::vector<OddGroup>& odd) {
  return std::none_of(odd.begin(), odd.end(),
                      [&](const OddGroup& each) { return StaysOnNode(view, *each.group); });
}

Ranks RanksInCommon(const std::vector<OddGroup>& odd) {
  Ranks common = MembersOf(*odd.front().group);
  for (const OddGroup& each : odd) {
    const Ranks members = MembersOf(*each.group);
    std::erase_if(common, [&](RankId rank) { return !members.contains(rank); });
  }
  return common;
}

// Those of well groups whose paths are like those of the odd ones.
std::vector<const Group*> Clearing(const JobView& view, const std::vector<OddGroup>& odd,
                                   const std::vector<const Group*>& well) {
  std::vector<const Group*> clearing = well;
  if (AllCrossNodes(view, odd)) {
    std::erase_if(clearing, [&](const Group* group) { return StaysOnNode(view, *group); });
  }
  return clearing;
}

OddPlace OfGroup(const JobView& view, const OddGroup& odd) {
  OddPlace place;
  place.entity.type = EntityType::kGroup;
  place.entity.ranks = odd.group->members;
  place.where = absl::StrCat("of ", GroupName(view, odd.group->id), ", ",
                             RanksInWords(place.entity.ranks), ",");
  return place;
}

// The group of these ranks and no others.
std::optional<OddPlace> OfInnermost(const JobView& view, const std::vector<OddGroup>& odd,
                                    const Ranks& ranks) {
  const OddGroup* innermost = nullptr;
  for (const OddGroup& each : odd) {
    if (MembersOf(*each.group) != ranks) continue;
    if (innermost == nullptr || each.lost > innermost->lost) innermost = &each;
  }
  if (innermost == nullptr) return std::nullopt;
  return OfGroup(view, *innermost);
}

// Those that are not at the place itself.
void AddVictims(const std::vector<OddGroup>& odd, OddPlace& place) {
  Ranks victims;
  for (const OddGroup& each : odd) victims.merge(MembersOf(*each.group));
  for (const RankId rank : place.entity.ranks) victims.erase(rank);
  place.victims.assign(victims.begin(), victims.end());
}

std::optional<OddPlace> OfRank(const JobView& view, const std::vector<OddGroup>& odd,
                               const std::vector<const Group*>& well, RankId rank) {
  for (const Group* group : Clearing(view, odd, well)) {
    if (MembersOf(*group).contains(rank)) return std::nullopt;
  }
  OddPlace place;
  place.entity.ranks = {rank};
  place.entity.node = NodeOf(view, rank);
  if (AllCrossNodes(view, odd)) {
    place.cause = Cause::kLinkSlow;
    place.entity.type = EntityType::kNic;
  }
  place.where = absl::StrFormat("in %d communicators that have only %s in common", odd.size(),
                                RanksInWords(place.entity.ranks));
  AddVictims(odd, place);
  return place;
}

std::optional<OddPlace> OfNode(const JobView& view, const std::vector<OddGroup>& odd,
                               const std::vector<const Group*>& well) {
  std::set<std::string> common = NodesOf(view, odd.front().group->members);
  for (const OddGroup& each : odd) {
    const auto nodes = NodesOf(view, each.group->members);
    std::erase_if(common, [&](const std::string& node) { return !nodes.contains(node); });
  }
  for (const Group* group : Clearing(view, odd, well)) {
    for (const std::string& node : NodesOf(view, group->members)) common.erase(node);
  }
  if (common.size() != 1 || common.contains("")) return std::nullopt;
  OddPlace place;
  place.entity.type = EntityType::kHost;
  place.entity.node = *common.begin();
  Ranks on_node;
  for (const OddGroup& each : odd) on_node.merge(MembersOf(*each.group));
  std::erase_if(on_node, [&](RankId rank) { return NodeOf(view, rank) != place.entity.node; });
  place.entity.ranks.assign(on_node.begin(), on_node.end());
  place.where = absl::StrFormat("in %d communicators that have only node %s in common", odd.size(),
                                place.entity.node);
  AddVictims(odd, place);
  return place;
}

// The only one that all of `odd` use and none of `well` does.
std::optional<std::string> OnlyOneOf(std::set<std::string> common,
                                     const std::vector<std::set<std::string>>& odd,
                                     const std::vector<std::set<std::string>>& well) {
  for (const auto& used : odd) {
    std::erase_if(common, [&](const std::string& each) { return !used.contains(each); });
  }
  for (const auto& used : well) {
    for (const std::string& each : used) common.erase(each);
  }
  if (common.size() != 1) return std::nullopt;
  return *common.begin();
}

OddPlace OfSwitch(const std::vector<OddGroup>& odd, const std::map<RankId, std::string>& leaves,
                  const Topology& topology, const std::string& name, bool leaf) {
  OddPlace place;
  place.cause = Cause::kLinkSlow;
  place.entity.type = EntityType::kSwitch;
  place.entity.link_src = name;
  for (const auto& [rank, at] : leaves) {
    if (HangsOn(topology, at, name)) place.entity.ranks.push_back(rank);
  }
  place.where =
      absl::StrFormat("in %d communicators that have only %sswitch %s in common, with %s,",
                      odd.size(), leaf ? "leaf " : "", name, RanksInWords(place.entity.ranks));
  AddVictims(odd, place);
  return place;
}

// A leaf switch, else a switch above the leaves.
std::optional<OddPlace> OfSwitches(const JobView& view, const std::vector<OddGroup>& odd,
                                   const std::vector<const Group*>& well,
                                   const Topology& topology) {
  const std::map<RankId, std::string> leaves = LeavesOf(view, topology);
  if (leaves.empty() || !AllCrossNodes(view, odd)) return std::nullopt;
  const auto leaves_of = [&](const Group& group) {
    std::set<std::string> used;
    for (const RankId rank : group.members) {
      const auto at = leaves.find(rank);
      if (at != leaves.end()) used.insert(at->second);
    }
    return used;
  };
  std::vector<std::set<std::string>> odd_leaves, well_leaves, odd_above, well_above;
  for (const OddGroup& each : odd) {
    odd_leaves.push_back(leaves_of(*each.group));
    odd_above.push_back(SwitchesBetween(topology, odd_leaves.back()));
  }
  for (const Group* each : Clearing(view, odd, well)) {
    well_leaves.push_back(leaves_of(*each));
    well_above.push_back(SwitchesBetween(topology, well_leaves.back()));
  }
  if (const auto leaf = OnlyOneOf(odd_leaves.front(), odd_leaves, well_leaves)) {
    return OfSwitch(odd, leaves, topology, *leaf, true);
  }
  // Without any that is well nothing tells the switch from a network that is slow for all.
  if (well_above.empty()) return std::nullopt;
  const auto above = OnlyOneOf(odd_above.front(), odd_above, well_above);
  if (!above) return std::nullopt;
  return OfSwitch(odd, leaves, topology, *above, false);
}

}  // namespace

std::optional<OddPlace> PlaceOfOdd(const JobView& view, const std::vector<OddGroup>& odd,
                                   const std::vector<const Group*>& well,
                                   const Topology* topology) {
  if (odd.size() == 1) return OfGroup(view, odd.front());
  const Ranks common = RanksInCommon(odd);
  if (common.empty()) {
    std::optional<OddPlace> place = OfNode(view, odd, well);
    if (!place && topology != nullptr) place = OfSwitches(view, odd, well, *topology);
    return place;
  }
  if (common.size() > 1) return OfInnermost(view, odd, common);
  return OfRank(view, odd, well, *common.begin());
}

}  // namespace fathom::diagnosis
