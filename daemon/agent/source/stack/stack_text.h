// Reads what `py-spy dump` prints: the stack of the main thread of a Python process.
//
// Used by stack_reader, stack_sampler and native_stack. The names in it come from the process that
// was looked at, so everything is bounded and cleaned.
//
//   Thread 4711 (active): "MainThread"
//       wait_for_flag (faults.py:101)
//       main (ddp.py:49)
//
// Thread-safety: pure functions. Errors: no thread of that id and none called MainThread: empty.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_TEXT_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::agent {

inline constexpr std::size_t kMaxFrames = 64;
inline constexpr std::size_t kMaxFrameBytes = 200;

// Innermost first, "function (file:line)". The thread with this id, else the one named MainThread.
std::vector<std::string> ParseStack(std::string_view text, std::uint32_t thread_id);

// Bounded, without control characters.
std::string CleanFrame(std::string_view frame);

// The frame without what differs from sample to sample of one function: its line.
// "wait (faults.py:101)" → "wait (faults.py)".
std::string FunctionOf(std::string_view frame);

// What a natively read stack shows of work: its innermost function with a name that belongs to
// neither the C library nor Python's interpreter, which go through many functions while nothing
// moves on. Empty where it comes to the interpreter first, or has no such function.
std::string LibraryFunction(const std::vector<std::string>& frames);

// What a failure of the tool means for the reader, with the setting that would allow it.
std::string ExplainStackError(std::string_view output);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_TEXT_H_
