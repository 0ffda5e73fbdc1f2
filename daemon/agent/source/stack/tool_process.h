// Runs a program beside the agent and collects what it prints.
//
// Used by stack_tool and capture/stack_recording for py-spy. Its output and its errors come through
// one pipe; it is killed with its caller's patience, and before the call returns.
//
// Thread-safety: thread-safe. Units: real time.
// Errors: that of posix_spawn (NotFound without the program), DeadlineExceeded, Internal with what
// it printed where it failed. Cost: one process; output beyond `most_bytes` is read and dropped.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_TOOL_PROCESS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_TOOL_PROCESS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace fathom::agent {

struct ToolPlan {
  std::vector<std::string> command;  // a name on the agent's PATH or a path, and its arguments
  std::chrono::milliseconds patience{10'000};
  std::size_t most_bytes = 1 << 18;
  std::chrono::milliseconds every{100};  // `between` is called about so often while it runs
  std::function<void()> between = {};
  // Asked as often: true once it is to end in its own way; then it is interrupted, as by Ctrl-C.
  std::function<bool()> enough = {};
};

// Gives up when `stop` becomes true.
absl::StatusOr<std::string> RunTool(const ToolPlan& plan, const std::atomic<bool>& stop);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_TOOL_PROCESS_H_
