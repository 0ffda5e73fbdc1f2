// Registers and stack of one thread of another process, copied in one short pause.
//
// Used by native_stack. Only this thread is stopped (PTRACE_SEIZE and PTRACE_INTERRUPT: no signal
// is sent, the other threads run on), for as long as the copy takes; it is unwound afterwards.
//
// Model: a thread of ours of its own is the tracer, so that whatever goes wrong the kernel lets go
// of the other one when ours ends. It asks for a better place in the queue for a core, where it may
// have one: while it waits there, the other thread stands. The stack is copied in pieces, no more
// of them once kCopyWithin is over (pages may have to come from swap); what was copied until then
// is unwound. A signal that arrives in the pause is handed on.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: pure function.
// Errors: PermissionDenied, with the setting that would allow it; NotFound: the thread is gone;
// Unavailable: it did not stop in time (in the kernel, uninterruptible); Unimplemented on machines
// whose registers we do not know (x86-64 and aarch64 are known).
// Cost: for the other thread some 30 to 300 µs, for us a thread.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_THREAD_SNAPSHOT_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_THREAD_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

struct ThreadSnapshot {
  std::uint32_t thread = 0;
  std::vector<std::uint64_t> registers;  // by their DWARF numbers
  std::uint64_t pc = 0;
  std::uint64_t stack_at = 0;  // address of stack[0]
  std::vector<std::byte> stack;
  Nanos pause;  // it was stopped for so long, at most
};

inline constexpr std::size_t kMostStackBytes = 256 * 1024;
// A thread that has not stopped by then is left alone; until it stops it is not held up.
inline constexpr Nanos kStopWithin{200'000'000};

// After so long in the pause no further piece of the stack is copied.
inline constexpr Nanos kCopyWithin{10'000'000};

absl::StatusOr<ThreadSnapshot> SnapshotThread(std::uint32_t thread);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_THREAD_SNAPSHOT_H_
