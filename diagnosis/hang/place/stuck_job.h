// A job that stands still, as rule hang looks at it, and what all verdicts on it share.
//
// Used by rule hang and the verdicts in this folder. Thread-safety: pure functions. Cost: O(open
// ops + waiting ranks × accused), and that of the chain of waits and the clusters of stacks
// (hang/place/wait_chain.h, hang/place/stack_clusters.h).
#ifndef FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_JOB_H_
#define FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_JOB_H_

#include <vector>

#include "diagnosis/evidence/rule.h"
#include "diagnosis/graph/wait_for.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// Lifetime: of one examination.
struct StuckJob {
  const Case& c;
  const WaitFor& graph;
  Nanos longest_iteration;  // that the job has shown: watch/stall
};

// How long the job has been stuck: the longest wait of a rank that waits.
Nanos StuckFor(const StuckJob& job);

// Cause, class, owner, entity, begin, cost, victims, who waits for whom in which op, stacks. The
// grade, the sentence and what to do are the caller's.
Verdict BaseVerdict(const StuckJob& job, Cause cause, std::vector<RankId> ranks);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_JOB_H_
