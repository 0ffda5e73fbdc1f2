// Which workers compute more slowly than others with the same work, and what that costs.
//
//   replica 0   stage 0 ===   stage 1 ===     stage 2 ===
//   replica 1   stage 0 ===   stage 1 =====   stage 2 ===      stage 1 of replica 1
//
// Used by schedule/slow_worker, which convicts, and by schedule/unequal_work, which looks at the
// job as it would be without them.
//
// Model: a worker's own ratio in a step is its computing against the median of its peers, over what
// the other stages of its replica show alike (long sequences make all stages of a replica slow, a
// device one). A device can be slow but not fast, so of two that differ the slower is the odd one.
// A worker is slow from the first step on after which consistent_share of its steps reach
// slow_worker_ratio, if before it at most chance_share did. Found ones must together cost 2 %
// of the step time, each its part: what the pipeline hides harms nobody.
// A replica that is slow at all stages in every step may have its data or its machines to thank:
// that is told apart by nothing in the trace.
//
// Units: seconds, ratios; steps are indices. Thread-safety: pure function. Errors: none.
// Cost: O(ops × replicas), two replays, and one more for each worker found.
// Source: peers as in Greyhound (ATC'25).
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_SLOW_WORKERS_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_SLOW_WORKERS_H_

#include <cstddef>
#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/schedule/replay.h"

namespace fathom::diagnosis {

struct SlowWorker {
  std::size_t replica = 0;
  std::size_t stage = 0;
  std::size_t since = 0;  // index of the first slow step
  std::size_t steps = 0;  // from then on
  std::size_t shows = 0;  // of these, in which it reaches the ratio
  double ratio = 1;       // median from then on
  double seconds = 0;     // its computing in a step, and
  double peers = 0;       // that of its peers
  double step_s = 0;      // mean replayed step from then on, and
  double repaired_s = 0;  // with this worker as its peers
};

struct SlowWorkers {
  std::vector<SlowWorker> workers;    // costliest first
  std::vector<std::size_t> replicas;  // slow at all stages alike
  Lengths repaired;                   // recorded, with these workers as their peers
};

SlowWorkers FindSlowWorkers(const Replay& replay, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_SLOW_WORKERS_H_
