// Reads the stack of a process with the best tool there is: py-spy for Python, the process itself
// where it offers that, else natively.
//
// Made by Agent, called by stack_sampler on its thread.
//
// Model: py-spy first, which never stops the process. Where it is not installed, or the process is
// no Python, or it fails, the process is asked if it listens (inside_stack.h), and last comes the
// native stack of the main thread (native_stack.h, a pause below a millisecond). Whoever may not
// run py-spy on it may not read it natively: then the error says which rule forbids it, what would
// allow it (ptrace_permission.h), and why the process itself did not answer.
//
// Thread-safety: one caller. Errors: PermissionDenied, NotFound (the process is gone), or what all
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
  // `folder`: of the rings, where processes listen that answer themselves.
  StackReader(std::string program, std::string folder)
      : program_(std::move(program)), folder_(std::move(folder)) {}

  absl::StatusOr<StackReading> Read(std::uint32_t pid, const std::atomic<bool>& stop);

 private:
  absl::StatusOr<StackReading> ReadPython(std::uint32_t pid, const std::atomic<bool>& stop);

  const std::string program_;
  const std::string folder_;
  bool missing_ = false;  // py-spy
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_READER_H_
