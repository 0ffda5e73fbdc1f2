// Where a request came from: which network, and on this machine, of which user.
//
// Used by Login and by the port of agents. `address` is numeric, as the server library gives it.
// Thread-safety: pure, but for LoopbackOwner, which asks the kernel. Errors: InvalidArgument names
// what is no address.
#ifndef FATHOM_COLLECTOR_NET_PEER_H_
#define FATHOM_COLLECTOR_NET_PEER_H_

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace fathom::collector {

struct Peer {
  std::string address;
  int port = 0;
  int server_port = 0;              // that it reached
  std::string server_address = {};  // likewise; empty: not known
};

// "10.0.0.0/8, ::1, 192.168.1.7".
class Networks {
 public:
  static absl::StatusOr<Networks> Parse(const std::string& list);
  bool Has(const std::string& address) const;
  bool empty() const { return networks_.empty(); }

 private:
  struct Network {
    std::array<unsigned char, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d
    int bits = 128;
  };
  static bool Read(const std::string& address, std::array<unsigned char, 16>& bytes);

  std::vector<Network> networks_;
};

// The user whose process holds the other end of a connection over loopback. Nothing: not over
// loopback, or there is no such connection any more. Where the server's address is known the kernel
// is asked for exactly that connection; else, and where it does not answer, its tables in `folder`
// (tcp, tcp6) are searched.
std::optional<uid_t> LoopbackOwner(const Peer& peer, const std::string& folder = "/proc/net");

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_PEER_H_
