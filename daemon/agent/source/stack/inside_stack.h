// Asks a Python process itself what its main thread does.
//
// Used by stack_reader, on the sampler's thread: for jobs that were started with
// FATHOM_INSIDE_STACKS=1, because nobody may read their memory from outside. The other side is
// stacks.py of the tracer's Python hook.
//
// Model: one datagram each way, over sockets in the ring folder: `<pid>.stacks` of the process,
// `<pid>-<thread>.asks` of this agent. The kernel says who answered, and nobody else is believed.
// The text is what `py-spy dump` would print (stack_text.h), below the time for which the
// interpreter's lock was held.
//
// Thread-safety: thread-safe. Ownership: its socket's file is removed before it returns.
// Errors: NotFound (nobody listens there), DeadlineExceeded (no answer in kAnswerMs: a thread of
// the process keeps Python's lock, or it is stopped), Internal with what the kernel said.
// Cost: two datagrams; the process holds its interpreter's lock for some 50 µs.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_INSIDE_STACK_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_INSIDE_STACK_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/agent/source/stack/stack_reading.h"

namespace fathom::agent {

inline constexpr int kAnswerMs = 2000;

// Where the process `pid` listens, in this ring folder.
std::string InsideSocket(std::string_view folder, std::uint32_t pid);

// Gives up when `stop` becomes true.
absl::StatusOr<StackReading> AskInside(const std::string& folder, std::uint32_t pid,
                                       const std::atomic<bool>& stop);

// "held NANOSECONDS\n", then py-spy's text. Errors: DataLoss where there is no such line or no
// frame. The answer comes from the process, so everything is bounded and cleaned.
absl::StatusOr<StackReading> ParseAnswer(std::string_view answer, std::uint32_t pid);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_INSIDE_STACK_H_
