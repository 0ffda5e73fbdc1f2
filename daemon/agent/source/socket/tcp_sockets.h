// The TCP connections of processes, as the kernel sees them: what is sent again, what is not read.
//
// Used by session/socket_watch for ranks that are stuck in an op.
//
// Model: one dump of all established connections of the agent's network namespace (sock_diag), each
// with its inode; a process has those that its file descriptors name. A process in another network
// namespace shares no inode, so nothing is said of it.
//
// Thread-safety: pure functions. Errors: the kernel's answer to a dump that it refuses;
// PermissionDenied for descriptors of another user's process; NotFound if it is gone.
// Cost: a dump some µs a connection; descriptors a system call each.
// Source: sock_diag(7), tcp_info of linux/tcp.h; methods 10.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_SOCKET_TCP_SOCKETS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_SOCKET_TCP_SOCKETS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/agent/source/process/proc_file.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

struct TcpSocket {
  std::uint64_t inode = 0;
  std::string local, peer;           // "10.0.0.3:41234", "[fe80::1]:41234"
  std::uint32_t backoff = 0;         // doublings of the retransmission timer
  std::uint32_t unacknowledged = 0;  // segments
  std::uint32_t probes = 0;          // of a closed window, not answered
  std::uint64_t queued = 0;          // bytes written and not confirmed
  std::uint64_t unread = 0;          // bytes
  Nanos since_received;
};

inline constexpr std::size_t kMostSockets = 65'536;

absl::StatusOr<std::vector<TcpSocket>> EstablishedSockets();

// Inodes of the sockets that the process has open.
absl::StatusOr<std::set<std::uint64_t>> SocketsOf(const KernelRoots& roots, std::uint32_t pid);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_SOCKET_TCP_SOCKETS_H_
