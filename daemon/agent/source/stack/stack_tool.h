// Runs py-spy on one process and collects what it prints.
//
// Used by stack_reader, on the sampler's thread. `py-spy dump --nonblocking` reads the memory of
// the process and never stops it, so a stack may be torn (then the next sample is not); nothing is
// written to it.
//
// Thread-safety: thread-compatible. Errors: NotFound without the program, DeadlineExceeded,
// Internal with the first bytes of its error output. Cost: a process of 0.1 to 0.5 s of CPU time.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_TOOL_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_TOOL_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace fathom::agent {

// `program`: a name on the agent's PATH or a path. Gives up when `stop` becomes true.
absl::StatusOr<std::string> DumpPythonStack(const std::string& program, std::uint32_t pid,
                                            const std::atomic<bool>& stop);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_TOOL_H_
