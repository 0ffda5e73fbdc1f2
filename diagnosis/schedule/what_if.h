// The figures of a what-if analysis, from a replay: S, and what each worker, replica, stage and
// kind of op has to do with it.
//
// Used by engine/diagnose for jobs that have a schedule. Model and names: model/what_if.h. The
// score that ranks workers for M_W is the smaller of what its replica and its stage alone leave of
// S, as the source has it; the slowdown told of a worker is that of a replay of its own, for the
// kWorkersReplayed of the highest score.
//
// Thread-safety: pure function. Errors: none; an ideal job has S = 1 and shares of 0.
// Cost: a replay for each replica, stage, kind of op, and worker told.
// Source: What-if Analysis (OSDI'25), equations 1 to 5; docs/rules/what_if.md compares.
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_WHAT_IF_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_WHAT_IF_H_

#include <cstddef>

#include "diagnosis/model/schedule_trace.h"
#include "diagnosis/model/what_if.h"
#include "diagnosis/schedule/replay.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kWorkersReplayed = 64;

// Requires: `replay` was made of `trace`.
WhatIf WhatIfOf(const ScheduleTrace& trace, const Replay& replay);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_WHAT_IF_H_
