#include "daemon/agent/session/socket_watch.h"

#include <algorithm>

namespace fathom::agent {
namespace {

void Put(const TcpSocket& from, v1::Socket& to) {
  to.set_local(from.local);
  to.set_peer(from.peer);
  to.set_backoff(from.backoff);
  to.set_unacknowledged(from.unacknowledged);
  to.set_queued(from.queued);
  to.set_unread(from.unread);
  to.set_probes(from.probes);
  to.set_since_received_ns(from.since_received.count);
}

}  // namespace

void SocketWatch::Look(std::uint32_t pid, std::int64_t now_ns, v1::RankHealth& health) {
  const auto& ops = health.open_ops();
  const bool stuck = std::any_of(ops.begin(), ops.end(),
                                 [](const v1::OpenOp& op) { return op.age_ns() >= kStuckNs; });
  if (!stuck || refused_) return;
  if (now_ns - dumped_ns_ >= kEveryNs) {
    dumped_ns_ = now_ns;
    absl::StatusOr<std::vector<TcpSocket>> fresh = dump_();
    refused_ = !fresh.ok();
    sockets_ = std::move(fresh).value_or(std::vector<TcpSocket>());
  }
  const auto inodes = SocketsOf(roots_, pid);
  if (!inodes.ok()) return;
  for (const TcpSocket& socket : sockets_) {
    if (health.sockets_size() >= kMostOfARank) return;
    if (inodes->contains(socket.inode)) Put(socket, *health.add_sockets());
  }
}

}  // namespace fathom::agent
