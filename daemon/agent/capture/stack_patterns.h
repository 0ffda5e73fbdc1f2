// Reduces the samples of a capture to what leaves the node: stacks with how often each was seen,
// over a table of frames, in at most kMaxPatternBytes.
//
// Used by stack_recording. Model: all stacks where they fit. Otherwise the rarer ones, half of
// all, then more, are told without their frames inside Python and PyTorch, so that what a line of
// the user's costs stays right; what still finds no room is left out and counted, the rarest first.
// The share β of a function's time follows: samples of stacks that it is in, over all samples.
//
// Thread-safety: pure. Errors: none. Cost: O(stacks × depth × log).
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_STACK_PATTERNS_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_STACK_PATTERNS_H_

#include <cstddef>
#include <vector>

#include "daemon/agent/capture/folded_stacks.h"
#include "fathom/v1/capture.pb.h"

namespace fathom::agent {

inline constexpr std::size_t kMaxPatternBytes = 30 * 1024;

// Of these, for processes that the rank started, where there are any.
inline constexpr std::size_t kWorkerPatternBytes = 8 * 1024;

// Fills samples, left_out, frames and stacks of `out`.
void ReduceStacks(const std::vector<FoldedStack>& stacks, std::size_t most_bytes,
                  v1::RankCapture& out);

// Likewise worker_samples, frames behind those that are there, and worker_stacks; what finds no
// room counts as a sample of no stack.
void ReduceWorkerStacks(const std::vector<FoldedStack>& stacks, std::size_t most_bytes,
                        v1::RankCapture& out);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_STACK_PATTERNS_H_
