// Whose process holds one end of a TCP connection on this machine, as the kernel tells of exactly
// that connection.
//
// Used by LoopbackOwner where both ends are known. Model: one question to the kernel (sock_diag)
// that names both ends, so that nothing is searched. The answer must be of a connection that is
// established and has these ports: for an end that is gone the kernel may answer with the socket
// that listens on its port.
//
// Thread-safety: pure. Errors: nothing, where there is no such connection, the addresses are none
// or not of one kind, or the kernel does not answer. Cost: four system calls, some 10 µs however
// many connections there are.
// Source: sock_diag(7).
#ifndef FATHOM_COLLECTOR_NET_SOCKET_OWNER_H_
#define FATHOM_COLLECTOR_NET_SOCKET_OWNER_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace fathom::collector {

struct TcpEnd {
  std::string address;  // numeric
  int port = 0;
};

// The user of the socket whose own end is `own`, connected to `other`.
std::optional<uid_t> SocketOwner(const TcpEnd& own, const TcpEnd& other);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_SOCKET_OWNER_H_
