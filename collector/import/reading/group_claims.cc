#include "collector/import/reading/group_claims.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace fathom::collector {
namespace {

using Ranks = std::vector<std::uint32_t>;

constexpr std::size_t kListed = 8;  // ranks; a larger group is named by its size and first

bool Disjoint(const std::set<Ranks>& lists) {
  std::set<std::uint32_t> seen;
  for (const Ranks& ranks : lists) {
    for (const std::uint32_t rank : ranks) {
      if (!seen.insert(rank).second) return false;
    }
  }
  return true;
}

std::string Named(const std::string& name, const Ranks& ranks) {
  return ranks.size() <= kListed
             ? absl::StrCat(name, " (ranks ", absl::StrJoin(ranks, ", "), ")")
             : absl::StrCat(name, " (", ranks.size(), " ranks from ", ranks.front(), ")");
}

}  // namespace

std::map<GroupOfRank, std::string> NamesApart(std::vector<GroupClaim> claims) {
  std::map<std::string, std::set<Ranks>> lists;
  std::erase_if(claims, [](GroupClaim& claim) {
    std::sort(claim.ranks.begin(), claim.ranks.end());
    claim.ranks.erase(std::unique(claim.ranks.begin(), claim.ranks.end()), claim.ranks.end());
    return !std::binary_search(claim.ranks.begin(), claim.ranks.end(), claim.rank);
  });
  for (const GroupClaim& claim : claims) lists[claim.name].insert(claim.ranks);
  std::erase_if(
      lists, [](const auto& entry) { return entry.second.size() < 2 || !Disjoint(entry.second); });
  std::map<GroupOfRank, std::string> names;
  for (const GroupClaim& claim : claims) {
    if (!lists.contains(claim.name)) continue;
    names[{claim.rank, claim.name}] = Named(claim.name, claim.ranks);
  }
  return names;
}

}  // namespace fathom::collector
