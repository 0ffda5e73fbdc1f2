// Tells, before a server library tries, whether an address can be listened on, and why not; and
// whether it may be.
//
// Used by AgentService and Listener, whose libraries report a port in use badly or not at all, and
// by the checks of settings.
// The probe binds and closes at once; another process may still take the port in between, then the
// library's own failure is reported.
// Thread-safety: thread-safe. Errors: InvalidArgument (no such address), Unavailable (in use, not
// permitted): one line that names address, purpose and flag, or the setting.
#ifndef FATHOM_COLLECTOR_NET_LISTEN_PROBE_H_
#define FATHOM_COLLECTOR_NET_LISTEN_PROBE_H_

#include <absl/status/status.h>

#include <string>

namespace fathom::collector {

// `purpose`: "agents (gRPC)"; `flag`: "--grpc". Requires: `address` is HOST:PORT.
absl::Status ProbeListen(const std::string& address, const std::string& purpose,
                         const std::string& flag);

struct HostPort {
  std::string host;  // without brackets
  int port = 0;
};
// "[::1]:80", "127.0.0.1:80", "localhost:0". InvalidArgument for anything else.
absl::Status ParseHostPort(const std::string& address, HostPort& out);

// InvalidArgument for what is not HOST:PORT, and for more than loopback unless `closed`: whoever
// connects must show who it is, or is trusted. `what_closes`: settings that do, for the error.
absl::Status CheckAddress(const std::string& setting, const std::string& address, bool closed,
                          const std::string& what_closes);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_LISTEN_PROBE_H_
