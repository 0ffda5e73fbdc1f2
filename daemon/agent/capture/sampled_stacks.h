// The stacks of a process's threads, of what py-spy wrote of them: each once, and in which order
// they were seen.
//
// Used by stack_recording and stack_patterns. The outermost frame of a sample is the thread,
// "thread (14494): MainThread"; with --subprocesses the process and those that started it stand
// before it, 'process 14494:"python train.py"'. With --native frames of libraries stand among
// them, by symbol, with the library as their file. The names come from the process that was looked
// at, so all is bounded and cleaned.
//
// Thread-safety: pure functions. Errors: a text without the thread gives no stacks.
// Cost: O(text).
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_SAMPLED_STACKS_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_SAMPLED_STACKS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::agent {

struct StackFrame {
  std::string function;
  std::string file;  // as the interpreter names it, mostly a whole path; may be empty
  std::uint32_t line = 0;
  auto operator<=>(const StackFrame&) const = default;
};

struct SampledStack {
  std::vector<StackFrame> frames;  // innermost first
  std::uint64_t samples = 0;
};

inline constexpr std::size_t kMaxStackFrames = 256;  // of one stack; outer ones are left out

struct SampledThread {
  std::vector<SampledStack> stacks;
  std::vector<std::uint32_t> order;  // the place of the stack of each sample, in their order
};

struct SampledThreads {
  SampledThread training;
  SampledThread workers;  // main threads of processes that were started, one after the other
  SampledThread beside;   // other threads of the process that were asked for, likewise
};

// The training thread is that with this number of the kernel's, else the one called MainThread. A
// forked process keeps the frames of the one that forked it: they are left out of its own.
// `beside`: which of the other threads are wanted. Nothing where the text is not what py-spy
// writes.
std::optional<SampledThreads> ParseSampled(std::string_view text, std::uint32_t thread,
                                           const std::set<std::uint32_t>& beside = {});

// Of Python itself, of PyTorch, of the tracer, of the machine's libraries: nobody's own code.
bool IsInternal(const StackFrame& frame);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_SAMPLED_STACKS_H_
