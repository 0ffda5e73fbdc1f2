// The connections of ranks that are stuck in an op: which one moves nothing?
//
// Owned by Agent. The agent itself knows who is stuck (silent, with an op open for kStuckNs), so no
// message from the centre is needed. All ranks of the node share one dump, at most every kEveryNs.
// Which rank is at the other end is told by the collector, who sees both ends.
//
// Thread-safety: the poll loop's. Errors: a kernel that refuses the dump leaves no sockets, and is
// not asked again. Cost: none while ops flow; else see tcp_sockets.h.
#ifndef FATHOM_DAEMON_AGENT_SESSION_SOCKET_WATCH_H_
#define FATHOM_DAEMON_AGENT_SESSION_SOCKET_WATCH_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/agent/source/process/proc_file.h"
#include "daemon/agent/source/socket/tcp_sockets.h"
#include "fathom/v1/health.pb.h"

namespace fathom::agent {

class SocketWatch {
 public:
  static constexpr std::int64_t kStuckNs = 2'000'000'000;
  static constexpr std::int64_t kEveryNs = 1'000'000'000;
  static constexpr int kMostOfARank = 256;

  using Dump = std::function<absl::StatusOr<std::vector<TcpSocket>>()>;

  SocketWatch(KernelRoots roots, Dump dump) : roots_(std::move(roots)), dump_(std::move(dump)) {}

  // Adds the rank's connections to its health, if it is stuck in an op.
  void Look(std::uint32_t pid, std::int64_t now_ns, v1::RankHealth& health);

 private:
  const KernelRoots roots_;
  const Dump dump_;
  bool refused_ = false;
  std::int64_t dumped_ns_ = -kEveryNs;
  std::vector<TcpSocket> sockets_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_SOCKET_WATCH_H_
