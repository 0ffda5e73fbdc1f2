// By which way the agent reaches the collector that it was told: gRPC's name for it.
//
// Asked by CollectorLink before each try. Model: "unix:/PATH" is taken as it is, if the kernel says
// that who listens there is root, this agent's user, or the owner of the folder. For HOST:PORT on
// loopback the socket that the collector makes beside its port is preferred: there the agent knows
// that no other user has taken the port while the collector was away, and the collector knows
// whose the agent is also where /proc is hidden. Without such a socket, and always with TLS, it is
// HOST:PORT.
//
// Thread-safety: thread-safe. Errors: of a unix:/PATH that nobody, or somebody else, answers.
// Cost: some system calls, and a connection to a socket that is there.
#ifndef FATHOM_DAEMON_AGENT_UPLINK_WAY_TO_COLLECTOR_H_
#define FATHOM_DAEMON_AGENT_UPLINK_WAY_TO_COLLECTOR_H_

#include <string>

#include "absl/status/statusor.h"

namespace fathom::agent {

absl::StatusOr<std::string> WayToCollector(const std::string& target, bool tls);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_UPLINK_WAY_TO_COLLECTOR_H_
