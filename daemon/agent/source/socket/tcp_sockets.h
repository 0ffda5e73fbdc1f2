// The TCP connections of processes, as the kernel sees them: what is sent again, what is not read.
//
// Used by session/socket_watch for ranks that are stuck in an op, and by
// source/hardware/connection_source while ops flow.
//
// Model: one dump of all established connections of a network namespace (sock_diag), each with its
// inode; a process has those that its file descriptors name. A SocketTable stays with the namespace
// in which it was opened: the agent's own, or that of a process, which a thread of its own enters
// for as long as it takes to open it.
//
// Thread-safety: a SocketTable is used by one thread; the functions are pure. Ownership: a
// SocketTable owns its descriptor. Errors: the kernel's answer to a dump that it refuses;
// PermissionDenied for descriptors of another user's process, and for another namespace without
// CAP_SYS_ADMIN; NotFound if the process is gone.
// Cost: a dump walks the kernel's whole table of connections, of all namespaces: 0.3 ms and more on
// a large machine, whatever is in it; one connection some µs; descriptors a system call each; a
// namespace a thread once.
// Source: sock_diag(7), tcp_info of linux/tcp.h; methods 10.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_SOCKET_TCP_SOCKETS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_SOCKET_TCP_SOCKETS_H_

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
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
  std::uint64_t confirmed = 0;  // bytes sent and confirmed
  std::uint64_t received = 0;   // bytes
  // With data queued or on its way, less what the receiver had no room for: it is not the network
  // that holds up what a process does not read.
  Nanos sending;
  std::uint8_t family = 0;
  std::array<std::uint32_t, 12> id{};  // as the kernel names it: inet_diag_sockid
};

inline constexpr std::size_t kMostSockets = 65'536;

class SocketTable {
 public:
  static absl::StatusOr<SocketTable> Own();
  // Of the network namespace that the process is in.
  static absl::StatusOr<SocketTable> Of(const KernelRoots& roots, std::uint32_t pid);
  SocketTable(SocketTable&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  SocketTable& operator=(SocketTable&&) = delete;
  ~SocketTable();

  absl::StatusOr<std::vector<TcpSocket>> Established() const;
  // Of one that was established, as it is now. NotFound: it is closed.
  absl::StatusOr<TcpSocket> Now(const TcpSocket& socket) const;

 private:
  explicit SocketTable(int fd) : fd_(fd) {}

  static absl::StatusOr<SocketTable> Open();

  int fd_;
};

// Those of the agent's own network namespace.
absl::StatusOr<std::vector<TcpSocket>> EstablishedSockets();

// Inodes of the sockets that the process has open.
absl::StatusOr<std::set<std::uint64_t>> SocketsOf(const KernelRoots& roots, std::uint32_t pid);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_SOCKET_TCP_SOCKETS_H_
