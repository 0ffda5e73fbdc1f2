#include "diagnosis/functions/role_peers.h"

#include <algorithm>

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kRoleIterations = 8;

}  // namespace

RolePeers::RolePeers(const JobView& view) : peers_(PeersOf(view, kRoleIterations)) {}

std::size_t RolePeers::RoleOf(RankId rank) const {
  const auto at = std::find(peers_.ranks.begin(), peers_.ranks.end(), rank);
  if (at == peers_.ranks.end()) return peers_.roles;
  return peers_.role[static_cast<std::size_t>(at - peers_.ranks.begin())];
}

std::vector<RankId> RolePeers::Of(RankId rank, const StackCapture& capture) const {
  const std::size_t role = RoleOf(rank);
  std::vector<RankId> out;
  for (const auto& [other, stacks] : capture.ranks) {
    if (other != rank && RoleOf(other) == role) out.push_back(other);
  }
  return out;
}

}  // namespace fathom::diagnosis
