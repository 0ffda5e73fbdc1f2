// Does an agent serve this node's shared-memory folder already?
//
// Used by TracingSession for `fathom run --collector`. Model: the node's folder is FATHOM_SHM_DIR,
// else /dev/shm/fathom; it is served when we may write there and the node's agent answers on its
// well-known HTTP port. Thread-safety: reads the environment. Errors: in doubt, no.
#ifndef FATHOM_COLLECTOR_CLI_RUN_SERVED_FOLDER_H_
#define FATHOM_COLLECTOR_CLI_RUN_SERVED_FOLDER_H_

#include <string>

#include "collector/cli/http/host_port.h"

namespace fathom::cli {

inline constexpr const char* kAgentHttp = "127.0.0.1:7072";

std::string NodeShmFolder();
bool IsServed(const std::string& folder);
// A fathomd answers there.
bool AgentAnswers(const HostPort& address);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_SERVED_FOLDER_H_
