#include "collector/import/recording.h"

#include <algorithm>

namespace fathom::collector {

void Describe(std::string_view description, diagnosis::Group& group) {
  if (group.description.empty() && description != "undefined") {
    group.description = std::string(description);
  }
}

GroupId GroupIdOfName(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return GroupId(hash == 0 ? 1 : hash);
}

diagnosis::RankFacts& FactsOf(Recording& recording, RankId rank) {
  auto& ranks = recording.view.ranks;
  auto at = std::lower_bound(ranks.begin(), ranks.end(), rank,
                             [](const auto& facts, RankId r) { return facts.rank < r; });
  if (at == ranks.end() || at->rank != rank) {
    at = ranks.insert(at, diagnosis::RankFacts{});
    at->rank = rank;
  }
  return *at;
}

diagnosis::Group& GroupOf(Recording& recording, std::string_view name) {
  auto& groups = recording.view.groups;
  const GroupId id = GroupIdOfName(name);
  auto at = std::lower_bound(groups.begin(), groups.end(), id,
                             [](const auto& group, GroupId g) { return group.id < g; });
  if (at == groups.end() || at->id != id) {
    at = groups.insert(at, diagnosis::Group{});
    at->id = id;
    at->name = std::string(name);
  }
  return *at;
}

}  // namespace fathom::collector
