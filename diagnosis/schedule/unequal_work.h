// Rule unequal_work: stages cut unequally, and micro-batches of unequal length, in a job that is
// known by its schedule. docs/rules/unequal_work.md.
//
// Model: looks at the job as it would be with its slow workers repaired (schedule/slow_workers), so
// that no device passes for a design.
//   stages   S reaches straggling_slowdown; fewer than half of the stages, the heaviest, compute
//            longer than each other stage in nearly every step and replica, and giving their ops
//            the ideal length wins back stage_share of what is lost. Names the stage.
//   lengths  levelling the computing within each step (one length for all micro-batches and
//            replicas of a stage) makes the step delta times shorter, and the forward and backward
//            computing of a micro-batch go together. Names the job.
// Both are the model's owners', and supported at most.
//
// Thread-safety: pure. Cost: a few replays.
// Source: What-if Analysis (OSDI'25), sections 5.2 and 5.3.
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_UNEQUAL_WORK_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_UNEQUAL_WORK_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule UnequalWorkRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_UNEQUAL_WORK_H_
