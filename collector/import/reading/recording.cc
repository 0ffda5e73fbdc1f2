#include "collector/import/reading/recording.h"

#include <algorithm>
#include <utility>

namespace fathom::collector {
namespace {

FileUse* UseOf(std::string_view path, Recording& recording) {
  const auto at =
      std::lower_bound(recording.files.begin(), recording.files.end(), path,
                       [](const FileUse& use, std::string_view p) { return use.path < p; });
  return at != recording.files.end() && at->path == path ? &*at : nullptr;
}

}  // namespace

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

void TellRank(std::string_view path, std::uint32_t rank, Recording& recording) {
  FileUse* const use = UseOf(path, recording);
  if (use == nullptr) return;
  const auto at = std::lower_bound(use->ranks.begin(), use->ranks.end(), rank);
  if (at == use->ranks.end() || *at != rank) use->ranks.insert(at, rank);
}

void TellLeftOut(std::string_view path, std::string why, Recording& recording) {
  if (FileUse* const use = UseOf(path, recording)) use->left_out = std::move(why);
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
