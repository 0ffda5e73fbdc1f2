// Where agents and a collector of the same machine meet over a unix socket, and whom the kernel
// says is at the other end of one.
//
// Used by the collector, which makes the socket, and by the agent, which looks for it. Model: both
// derive the place from the collector's port on loopback, so that an agent that was told
// 127.0.0.1:7071 finds the socket of the collector that serves it. The name holds the number of the
// network namespace as well: another namespace has another port 7071.
//
//   /run/fathom/agents-4026531840-7071.sock       of root, and of a service that systemd gave it
//   $XDG_RUNTIME_DIR/fathom/agents-….sock         of a person
//
// What proves who is there: SO_PEERCRED, which the kernel fills in when a process connects, and
// when one listens; and that nobody else may put another socket in the place: the folder belongs to
// root, to the asker or to the user who listens, and only its owner may write there.
//
// Thread-safety: pure, but for reading the environment. Errors: NotFound (no socket),
// Unavailable (nobody listens), PermissionDenied (who listens, or owns the folder, is not
// believed), each with the path.
#ifndef FATHOM_DAEMON_SERVICE_AGENT_SOCKET_H_
#define FATHOM_DAEMON_SERVICE_AGENT_SOCKET_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::service {

// What an address of the kernel holds.
inline constexpr std::size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;

struct SocketPeer {
  uid_t user = 0;
  pid_t process = 0;  // 0: of another process namespace
};

// Of a connected unix socket.
absl::StatusOr<SocketPeer> PeerOfSocket(int fd);

// "agents-4026531840-7071.sock".
std::string AgentSocketName(int port);
// The folder in which a collector makes it; empty: there is none for this user.
std::string AgentSocketFolder();
// The folders in which an agent looks for it.
std::vector<std::string> AgentSocketFolders();

// Whether `folder` is one in which only its owner may put something, and the owner is root, this
// process's user, or `also`.
absl::Status CheckSocketFolder(const std::string& folder, uid_t also);
// Connects to it, asks who listens there, and lets go.
absl::Status CheckAgentSocket(const std::string& path);

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_AGENT_SOCKET_H_
