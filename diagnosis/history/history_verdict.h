// The verdict on a run that is slower than earlier runs of its profile, with what was changed.
//
// Called by collector/runs with a judgement that says so.
//
// Model: the verdict is on the job: nobody is convicted. Its owner is whose doing the first change
// is that does not come with every run; without one, the owner of software (infrastructure).
// Established: at least HistoryLimits::kSureRuns earlier runs and a chance below kSureChance. A
// lead only: where an argument was changed that may mean more work by intent; and where nothing
// that is known was changed, nothing but the duration tells it (Witnessed), and the earlier runs
// began within HistoryLimits::kSitting_s: then the machine may have become slower as well.
//
// Units: seconds. Thread-safety: pure functions. Errors: none.
#ifndef FATHOM_DIAGNOSIS_HISTORY_HISTORY_VERDICT_H_
#define FATHOM_DIAGNOSIS_HISTORY_HISTORY_VERDICT_H_

#include <string>
#include <vector>

#include "diagnosis/history/job_profile.h"
#include "diagnosis/history/regression.h"
#include "diagnosis/history/run_setup.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

struct HistoryCase {
  RunJudgement judgement;
  JobProfile profile;
  std::string run;                   // its id
  std::string last_run;              // the newest of those that it was held against
  std::vector<SetupChange> changes;  // since then
  bool setup_known = false;          // of both
  double span_s = 0;                 // from the first to the last start of the earlier runs
  std::uint32_t ranks = 0;
};

// Requires: the judgement is kSlower.
Verdict SlowerThanHistory(const HistoryCase& c);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HISTORY_HISTORY_VERDICT_H_
