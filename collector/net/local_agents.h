// Whose agents are believed that reach the collector over this machine's loopback, or over its unix
// socket.
//
// Used by agent_service for each stream, where no certificate is asked for, and by local_port for
// each connection. Model: whoever may
// write here can have a node accused, so a process of another user is refused. Believed are root's
// and the collector's own user's, and those of `agent_users`. The kernel tells whose the other end
// of a connection is (net/peer); where it does not, for /proc/net is hidden, nobody is believed but
// with "*". What comes from another machine is not judged here: see docs/security.md.
//
// Thread-safety: immutable. Errors: InvalidArgument names a user that does not exist.
// Cost: that of LoopbackOwner a connection, three times where it does not tell.
#ifndef FATHOM_COLLECTOR_NET_LOCAL_AGENTS_H_
#define FATHOM_COLLECTOR_NET_LOCAL_AGENTS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <set>
#include <string>

#include "collector/net/peer.h"

namespace fathom::collector {

class LocalAgents {
 public:
  // Names or numbers with commas, or "*".
  static absl::StatusOr<LocalAgents> Parse(const std::string& users);

  // Whose it is: "user 0", or the address of a connection that is not over loopback, of which all
  // is well, or of which the kernel tells nothing and need not. Errors: PermissionDenied with the
  // user and the setting. `folder`: see LoopbackOwner.
  absl::StatusOr<std::string> Check(const Peer& peer,
                                    const std::string& folder = "/proc/net") const;

  // The same of a user whom the kernel has told already.
  absl::StatusOr<std::string> CheckUser(uid_t user) const;
  // Whether anybody else than root and the collector's own user is believed, and whether everybody.
  bool others() const { return all_ || others_; }
  bool everybody() const { return all_; }

  // Of one that was let in: whether the kernel tells whose it is, and it is one of ours. Not where
  // everybody is let in, nor of what comes from another machine.
  bool Tells(const Peer& peer) const;

 private:
  bool all_ = false;
  bool others_ = false;
  std::set<uid_t> users_;
};

// Of gRPC's "ipv4:127.0.0.1:4711", "ipv6:%5B::1%5D:4711"; an empty address of anything else.
Peer PeerOfGrpc(const std::string& text, int server_port);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_LOCAL_AGENTS_H_
