#include "diagnosis/hang/place/troubled_paths.h"

#include <algorithm>
#include <map>

namespace fathom::diagnosis {
namespace {

using Sockets = std::map<RankId, const std::vector<PathState>*>;

bool IsTroubled(const PathState& path, const DiagnosisConfig& config) {
  return path.backoff >= static_cast<std::uint32_t>(config.path_backoff) &&
         (path.unacknowledged > 0 || path.queued > 0);
}

// Bytes from `sender` lie at `rank`, and its process does not take them.
bool LeavesUnread(const Sockets& sockets, RankId rank, RankId sender) {
  const auto at = sockets.find(rank);
  return at != sockets.end() &&
         std::any_of(at->second->begin(), at->second->end(),
                     [&](const PathState& path) { return path.peer == sender && path.unread > 0; });
}

TroubledPaths FindIn(const Sockets& sockets, const DiagnosisConfig& config) {
  TroubledPaths found;
  for (const auto& [rank, paths] : sockets) {
    for (const PathState& path : *paths) {
      if (!IsTroubled(path, config) || path.peer == rank) continue;
      if (LeavesUnread(sockets, path.peer, rank)) {
        found.deaf.insert(path.peer);
      } else {
        found.paths.insert(std::minmax(rank, path.peer));
      }
    }
  }
  return found;
}

void AddTransfers(const std::vector<StuckTransfer>& stuck, const Sockets& sockets,
                  TroubledPaths& found) {
  for (const StuckTransfer& transfer : stuck) {
    if (LeavesUnread(sockets, transfer.receiver, transfer.sender)) {
      found.deaf.insert(transfer.receiver);
      continue;
    }
    const Path path = std::minmax(transfer.sender, transfer.receiver);
    found.paths.insert(path);
    found.transfers.emplace(path, transfer);
  }
}

}  // namespace

TroubledPaths TroubledPaths::Among(const std::vector<RankId>& ranks) const {
  const auto has = [&](RankId rank) {
    return std::binary_search(ranks.begin(), ranks.end(), rank);
  };
  TroubledPaths some;
  for (const Path& path : paths) {
    if (has(path.first) && has(path.second)) some.paths.insert(path);
  }
  for (const auto& [path, transfer] : transfers) {
    if (some.paths.contains(path)) some.transfers.emplace(path, transfer);
  }
  for (const RankId rank : deaf) {
    if (has(rank)) some.deaf.insert(rank);
  }
  return some;
}

TroubledPaths FindTroubledPaths(const JobView& view, const DiagnosisConfig& config) {
  Sockets sockets;
  for (const RankFacts& facts : view.ranks) sockets[facts.rank] = &facts.paths;
  TroubledPaths found = FindIn(sockets, config);
  AddTransfers(FindStuckTransfers(view, config), sockets, found);
  return found;
}

TroubledPaths FindRecordedTrouble(const JobView& view, const DiagnosisConfig& config) {
  Sockets sockets;
  for (const RankRecord& record : view.records) sockets[record.rank] = &record.paths;
  return FindIn(sockets, config);
}

}  // namespace fathom::diagnosis
