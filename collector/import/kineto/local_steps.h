// Joins steps in which no rank communicates with the next one in which they do.
//
// Used by JobBuilder. A job that sums gradients over several micro-batches, or averages weights
// every few steps, may mark each of them as a step; its ranks meet only in the last. What a rank
// does in the others shows in the wait of that one, and live such steps are one iteration, too.
//
//   step      10    11    12 (all-reduce)   13    14    15 (all-reduce)
//   becomes   |--------- 12 ---------|      |--------- 15 ---------|
//
// Model: done where ranks meet in every n-th step, n the same throughout; steps that were not
// recorded tell nothing of it. Steps before the first
// whole n and after the last are left out.
//
// Thread-safety: none needed. Cost: O(ops + marks + functions + ranks × steps × log ranks).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_LOCAL_STEPS_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_LOCAL_STEPS_H_

#include <cstdint>
#include <map>

#include "diagnosis/model/job_view.h"

namespace fathom::collector::kineto {

// Returns n, or 1 where nothing was joined. `by_number`: the iterations by number of step, the
// ranks of each sorted; what lies in the rows of `view` moves with them.
std::int64_t JoinLocalSteps(std::map<std::int64_t, diagnosis::IterationSummary>& by_number,
                            diagnosis::JobView& view);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_LOCAL_STEPS_H_
