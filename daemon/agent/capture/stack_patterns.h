// Reduces the samples of a capture to what leaves the node: stacks with how often each was seen,
// over a table of frames, in at most kMaxPatternBytes.
//
// Used by stack_recording. Model: all stacks where they fit. Otherwise the rarer ones, half of
// all, then more, are told without their frames inside Python and PyTorch, so that what a line of
// the user's costs stays right; what still finds no room is left out and counted, the rarest first.
// The share β of a function's time follows: samples of stacks that it is in, over all samples.
// The order in which they were seen goes along, as how long each stayed: samples hang together, and
// how much they tell of chance is seen by that alone. One of more than kMaxOrderBytes is thinned:
// each n-th sample stands for n.
//
// Thread-safety: pure. Errors: none. Cost: O(stacks × depth × log).
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_STACK_PATTERNS_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_STACK_PATTERNS_H_

#include <cstddef>

#include "daemon/agent/capture/sampled_stacks.h"
#include "fathom/v1/capture.pb.h"

namespace fathom::agent {

inline constexpr std::size_t kMaxPatternBytes = 30 * 1024;

// Of these, for processes that the rank started, where there are any.
inline constexpr std::size_t kWorkerPatternBytes = 8 * 1024;

// Likewise, for other threads of the process.
inline constexpr std::size_t kBesidePatternBytes = 4 * 1024;

// Of these again, for the order in which the stacks were seen.
inline constexpr std::size_t kMaxOrderBytes = 4 * 1024;

// Fills samples, left_out, frames, stacks and order of `out`.
void ReduceStacks(const SampledThread& thread, std::size_t most_bytes, v1::RankCapture& out);

// Of other threads: adds frames behind those that are there, and to `patterns` of `out`. How many
// samples they have; what finds no room counts as a sample of no stack.
std::uint32_t ReduceOthers(const SampledThread& others, std::size_t most_bytes,
                           v1::RankCapture& out,
                           google::protobuf::RepeatedPtrField<v1::StackPattern>& patterns);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_STACK_PATTERNS_H_
