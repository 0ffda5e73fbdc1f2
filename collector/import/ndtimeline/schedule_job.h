// A ScheduleTrace → the job around it: ranks, groups, iterations, signals.
//
// Used by ndtimeline_importer and by tests that change a trace.
//
// Model: the world is as large as the largest rank says, or the number of workers. An iteration is
// a step, numbered as the job numbers it; a rank's own time in it is what its computing ops took,
// its blocked time what communication took. Times are on no wall clock: iterations have no begin.
//
// Thread-safety: pure function. Errors: none. Cost: O(ops).
#ifndef FATHOM_COLLECTOR_IMPORT_NDTIMELINE_SCHEDULE_JOB_H_
#define FATHOM_COLLECTOR_IMPORT_NDTIMELINE_SCHEDULE_JOB_H_

#include "collector/import/reading/recording.h"
#include "diagnosis/model/schedule_trace.h"

namespace fathom::collector::ndtimeline {

// Requires: `recording` holds no other job.
void PutSchedule(diagnosis::ScheduleTrace trace, Recording& recording);

}  // namespace fathom::collector::ndtimeline

#endif  // FATHOM_COLLECTOR_IMPORT_NDTIMELINE_SCHEDULE_JOB_H_
