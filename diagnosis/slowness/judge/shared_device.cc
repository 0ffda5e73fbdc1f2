#include "diagnosis/slowness/judge/shared_device.h"

#include <cstddef>
#include <map>
#include <string>

namespace fathom::diagnosis {
namespace {

using Places = std::map<RankId, std::uint32_t>;

Places PlacesOnNodes(const JobView& view) {
  std::map<std::string, std::uint32_t> next;
  Places places;
  for (const RankFacts& facts : view.ranks) {
    if (!facts.node.empty()) places[facts.rank] = next[facts.node]++;
  }
  return places;
}

// The place that all members have; null where they differ or a node is not known.
std::optional<std::uint32_t> PlaceOf(const std::vector<RankId>& members, const Places& places) {
  std::optional<std::uint32_t> common;
  for (RankId rank : members) {
    const auto place = places.find(rank);
    if (place == places.end() || (common && *common != place->second)) return std::nullopt;
    common = place->second;
  }
  return common;
}

bool ElsewhereWell(const JobView& view, const std::set<GroupId>& slow, const Places& places,
                   std::uint32_t rail, std::size_t size) {
  for (const Group& group : view.groups) {
    if (slow.contains(group.id) || group.members.size() != size) continue;
    const auto place = PlaceOf(group.members, places);
    if (place && *place != rail) return true;
  }
  return false;
}

}  // namespace

SharedDevice SharedBy(const JobView& view, const std::set<GroupId>& slow) {
  const Places places = PlacesOnNodes(view);
  std::map<RankId, std::size_t> member_of;
  std::optional<std::uint32_t> rail;
  bool one_rail = true;
  std::size_t size = 0;
  for (const Group& group : view.groups) {
    if (!slow.contains(group.id)) continue;
    for (RankId rank : group.members) ++member_of[rank];
    const auto place = PlaceOf(group.members, places);
    one_rail = one_rail && place && (!rail || *rail == *place);
    rail = place;
    size = group.members.size();
  }
  SharedDevice shared;
  std::size_t in_all = 0;
  for (const auto& [rank, count] : member_of) {
    shared.ranks.push_back(rank);
    if (count == slow.size()) shared.rank = rank, ++in_all;
  }
  if (in_all != 1) shared.rank = kNoRank;
  if (in_all == 0 && one_rail && rail && ElsewhereWell(view, slow, places, *rail, size)) {
    shared.rail = rail;
  }
  return shared;
}

}  // namespace fathom::diagnosis
