// Reads the stack of a process with the best tool there is: py-spy for Python, else natively.
//
// Made by Agent, called by stack_sampler on its thread.
//
// Model: py-spy first, which never stops the process. Where it is not installed, or the process is
// no Python, or it fails, the native stack of the main thread (native_stack.h, a pause below a
// millisecond). Whoever may not read the one may not read the other: then the error says which
// rule forbids it, and what would allow it (ptrace_permission.h).
//
// Thread-safety: one caller. Errors: PermissionDenied, NotFound (the process is gone), or what both
// failed with. Cost: py-spy is a process of 0.1 to 0.5 s of CPU time.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_READER_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_READER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "daemon/agent/source/stack/stack_reading.h"

namespace fathom::agent {

class StackReader {
 public:
  // `program`: py-spy by name on the agent's PATH, or a path.
  explicit StackReader(std::string program) : program_(std::move(program)) {}

  absl::StatusOr<StackReading> Read(std::uint32_t pid, const std::atomic<bool>& stop);

 private:
  absl::StatusOr<StackReading> ReadPython(std::uint32_t pid, const std::atomic<bool>& stop);

  const std::string program_;
  bool missing_ = false;  // py-spy
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_READER_H_
