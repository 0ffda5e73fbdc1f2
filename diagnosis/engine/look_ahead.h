// A look at a slow job an iteration before it counts as slow.
//
// Used by the diagnoser (collector/evaluate/diagnoser) and the simulator's session, where a verdict
// opens at its second sight: this is the first. What Watch() and Diagnose() make of a job by these
// thresholds is never told; but a verdict that the full ones find in the next iteration has then
// been seen before, by other data, and the rows of the iterations before it are at hand.
//
// Thread-safety: pure functions. Cost: O(1). Errors: none. Source: ours.
#ifndef FATHOM_DIAGNOSIS_ENGINE_LOOK_AHEAD_H_
#define FATHOM_DIAGNOSIS_ENGINE_LOOK_AHEAD_H_

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis {

// An irregular iteration less, and the odds that it would have added.
DiagnosisConfig LookingAhead(DiagnosisConfig config);

// Whether to look ahead of a job that is not slow yet: its newest iterations are all irregular, and
// one more would be enough. `suspicion`: by the full thresholds.
bool MayBeSlowSoon(const JobView& view, const Suspicion& suspicion, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_ENGINE_LOOK_AHEAD_H_
