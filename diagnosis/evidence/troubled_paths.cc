#include "diagnosis/evidence/troubled_paths.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

// Bytes from `sender` lie at `rank`, and its process does not take them.
bool LeavesUnread(const JobView& view, RankId rank, RankId sender) {
  const RankFacts* facts = FactsOf(view, rank);
  return facts != nullptr &&
         std::any_of(facts->paths.begin(), facts->paths.end(), [&](const PathState& path) {
           return path.peer == sender && path.unread > 0;
         });
}

}  // namespace

bool IsTroubled(const PathState& path) {
  return path.backoff >= kTroubledBackoff && (path.unacknowledged > 0 || path.queued > 0);
}

TroubledPaths FindTroubledPaths(const JobView& view, const std::vector<RankId>& ranks) {
  TroubledPaths found;
  for (const RankId rank : ranks) {
    const RankFacts* facts = FactsOf(view, rank);
    if (facts == nullptr) continue;
    for (const PathState& path : facts->paths) {
      if (!IsTroubled(path) || path.peer == rank) continue;
      if (LeavesUnread(view, path.peer, rank)) {
        found.deaf.insert(path.peer);
      } else {
        found.paths.insert(std::minmax(rank, path.peer));
      }
    }
  }
  return found;
}

std::vector<RankId> CommonEnds(const std::set<Path>& paths) {
  std::map<RankId, std::size_t> ends;
  for (const auto& [a, b] : paths) {
    ++ends[a];
    ++ends[b];
  }
  std::vector<RankId> common;
  for (const auto& [rank, count] : ends) {
    if (count == paths.size()) common.push_back(rank);
  }
  return common;
}

void NameEnds(const std::vector<RankId>& ends, Verdict& verdict) {
  verdict.entity.ranks = ends;
  verdict.entity.type = ends.size() == 2 ? EntityType::kLink : EntityType::kRank;
  if (ends.size() == 2) {
    verdict.entity.link_src = absl::StrCat("rank ", ends[0].value);
    verdict.entity.link_dst = absl::StrCat("rank ", ends[1].value);
  }
  std::erase_if(verdict.victims, [&](RankId rank) {
    return std::find(ends.begin(), ends.end(), rank) != ends.end();
  });
}

}  // namespace fathom::diagnosis
