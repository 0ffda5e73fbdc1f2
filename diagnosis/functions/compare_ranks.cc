#include "diagnosis/functions/compare_ranks.h"

#include <algorithm>

#include "diagnosis/functions/beside_threads.h"
#include "diagnosis/functions/compare.h"
#include "diagnosis/functions/loader_workers.h"
#include "diagnosis/functions/role_peers.h"

namespace fathom::diagnosis {
namespace {

double ExcessOf(const Detail& detail) {
  return detail.known() ? detail.where.share - detail.where.peers_share : 0;
}

}  // namespace

std::vector<RankFunctions> CompareRanks(const JobView& view, const StackCapture& capture) {
  CompareLimits limits;
  limits.least_excess = kLeastExcess;
  const RolePeers roles(view);
  std::vector<RankFunctions> out;
  for (const auto& [rank, stacks] : capture.ranks) {
    const std::vector<RankId> peers = roles.Of(rank, capture);
    const Detail seen = CompareFunctions(capture, rank, peers, 0, limits);
    const Detail found = LookIntoWorkers(capture, rank, peers, seen);
    out.push_back({rank, LookBeside(capture, rank, peers, found)});
  }
  std::stable_sort(out.begin(), out.end(), [](const RankFunctions& a, const RankFunctions& b) {
    return ExcessOf(a.detail) > ExcessOf(b.detail);
  });
  return out;
}

}  // namespace fathom::diagnosis
