// Sums per rank over the iterations of the window: Report.ranks.
//
// Used by those who write reports; a look at a live job does without, since it grows with the job.
// Model, on the training thread: compute (on the CPU), non_compute (blocked on communication) and
// idle (the rest) split the span without overlap. Where the thread stood still for a device whose
// kernels nothing tells, compute is what of that no communication took: the least that it can be.
// communication and wait may overlap them: elapsed time of ops, and what of it exceeds the shortest
// member's, in no iteration more than it took.
//
// A job that is known by its schedule is summed over the whole of each step: compute is what
// computing ops cover, non_compute what communication covers of the rest, idle what nothing does;
// wait is what communication took beyond the shortest op of its kind on the worker.
//
// Units: Nanos. Thread-safety: pure. Cost: O(ranks × groups × window).
#ifndef FATHOM_DIAGNOSIS_WATCH_TOTALS_H_
#define FATHOM_DIAGNOSIS_WATCH_TOTALS_H_

#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// Sorted by rank.
std::vector<RankTotals> TotalsOf(const JobView& view);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_TOTALS_H_
