// Reads what `py-spy record --format raw --threads` writes: each stack once, with its samples.
//
//   thread (14494): MainThread;<module> (/job/train.py:127);train (/job/train.py:103) 224
//   process 14494:"python train.py";process 15001:"python train.py";thread (15001): MainThread;…  9
//
// With --subprocesses each line begins with its process and those that started it. With --native
// frames of libraries stand among them, by symbol, with the library as their file.
// Used by stack_recording; the names come from the process that was looked at, so all is bounded
// and cleaned. Lines that are no stacks (what py-spy says to people) are left out.
//
// Thread-safety: pure functions. Errors: a text without the thread gives no stacks.
// Cost: O(text).
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_FOLDED_STACKS_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_FOLDED_STACKS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
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

struct FoldedStack {
  std::vector<StackFrame> frames;  // innermost first
  std::uint64_t samples = 0;
};

inline constexpr std::size_t kMaxFoldedFrames = 256;  // of one stack; outer ones are left out

struct FoldedThreads {
  std::vector<FoldedStack> training;
  std::vector<FoldedStack> workers;  // main threads of processes that were started, all together
};

// The training thread is that with this number of the kernel's, else the one called MainThread. A
// forked process keeps the frames of the one that forked it: they are left out of its own.
FoldedThreads ParseFolded(std::string_view text, std::uint32_t thread);

// Of Python itself, of PyTorch, of the tracer, of the machine's libraries: nobody's own code.
bool IsInternal(const StackFrame& frame);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_FOLDED_STACKS_H_
