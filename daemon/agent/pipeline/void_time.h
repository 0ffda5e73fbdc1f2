// How long in an iteration nothing ran that is seen: neither a product of matrices nor
// communication.
//
// Called by iteration_summary. docs/rules/void.md.
//
// Model: what is seen are intervals, of a CPU the stretches of products and the waits of the
// training's threads for communication; of a GPU communication, and the time before it for which
// its stream is known to have been busy (it was launched ahead of its turn).
//
//   iteration |--------[products]----[products]-[communication]--|
//              between          within            the rest of it
//
// `between` is the longest stretch without any of them. Where an iteration begins is the agent's
// own choice, so it is not asked where that stretch lies; it is the step's border in all jobs whose
// batches, optimizer and logging take longer than any pause inside of the step. `within` is the
// rest, with the pauses inside of a stretch of products.
//
// Units: ns of CLOCK_MONOTONIC. Thread-safety: pure. Errors: not known where nothing was seen.
// Cost: O(n log n) of the intervals.
// Source: the two void percentages of XPUTimer, after their descriptions; its timed kernels are our
// products and communication.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_VOID_TIME_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_VOID_TIME_H_

#include <cstdint>
#include <vector>

namespace fathom::agent {

struct SeenInterval {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;  // of it; of what is no stretch of products all
};

struct VoidTime {
  bool known = false;
  std::int64_t between_ns = 0;
  std::int64_t within_ns = 0;
};

// Requires: intervals of one thread do not overlap; those of several may.
VoidTime VoidOf(std::vector<SeenInterval> seen, std::int64_t begin_ns, std::int64_t end_ns);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_VOID_TIME_H_
