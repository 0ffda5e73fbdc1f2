// The native stack of one thread, by name: functions of libc, PyTorch, CPython, the program.
//
// Used by stack_reader where py-spy is absent or the process is no Python.
//
// Model: thread_snapshot copies registers and stack; elfutils' libdw unwinds the copy with the call
// frame tables of the files that the process maps (through /proc/PID/root, so that a container's
// own files are read), as perf does. Names come from the symbol tables of those files; debug files
// are not looked for. What lies outside of the copy (tables in memory) is read from the process.
//
// Thread-safety: pure function. Errors: as SnapshotThread; an empty stack is Unavailable.
// Cost: the pause of the snapshot for the process; for the agent 20 to 300 ms of CPU time, as many
// files as are on the stack must be opened.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_NATIVE_STACK_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_NATIVE_STACK_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "daemon/agent/source/stack/stack_reading.h"

namespace fathom::agent {

// Frames as "function (file)", innermost first, at most kMaxFrames.
absl::StatusOr<StackReading> ReadNativeStack(std::uint32_t pid, std::uint32_t thread);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_NATIVE_STACK_H_
