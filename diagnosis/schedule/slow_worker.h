// Rule slow_worker: one worker of a schedule computes more slowly than all with the same work.
// docs/rules/slow_worker.md.
//
// Model: schedule/slow_workers finds them; each becomes compute_slow on the rank that stands for
// the worker, since the step in which it began. Established with enough steps and odds, a cost of
// delta and a second stage whose workers show that its replica has no more work; supported
// otherwise. A replica that is slow at all its stages is not judged: data and machines look alike.
//
// Thread-safety: pure. Cost: that of FindSlowWorkers().
// Source: Greyhound (ATC'25) on groups of equal work; the price is that of the replay.
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_SLOW_WORKER_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_SLOW_WORKER_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule SlowWorkerRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_SLOW_WORKER_H_
