// Where a job stands, for its verdicts: made of its figures and the clock.
//
// Used by evaluate/diagnoser and runs/run_keeper, which both tell the ledger of verdicts.
// Thread-safety: pure function. Errors: none. Cost: O(1).
#ifndef FATHOM_COLLECTOR_JOB_STATE_JOB_MOMENT_H_
#define FATHOM_COLLECTOR_JOB_STATE_JOB_MOMENT_H_

#include "collector/job/state/job_state.h"
#include "collector/process/clock.h"
#include "collector/verdict/job_verdicts.h"

namespace fathom::collector {

// Not repeated, and with nobody out of sight: whoever knows better adds it.
JobMoment MomentOf(const JobFigures& figures, const Clock& clock);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_STATE_JOB_MOMENT_H_
