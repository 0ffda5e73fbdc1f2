// What an iteration of a rank was made of, as all rules see it.
//
// Used by peers, watch, ledger, evidence and tables, so that none of them takes for a rank's doing
// what another does not.
//
// Model: a rank is answerable for its iteration less what it was blocked on communication and less
// what it waited for a core: its own threads, and, as far as it waited for a batch, the processes
// that make it. A wait for a core is made by whatever else runs there. What its additional
// computing brings along of it only evidence/parts can tell, which knows how long a second of
// computing waits.
//
// A host that waits for its device spins, so that its CPU time tells nothing of the work: where no
// kernels are known, it is taken to have computed for as long as it stood still for its device
// beyond what its communication took.
//
// Units: Nanos, never below zero. Thread-safety: pure. Errors: none. Cost: O(1).
#ifndef FATHOM_DIAGNOSIS_MODEL_RANK_TIMES_H_
#define FATHOM_DIAGNOSIS_MODEL_RANK_TIMES_H_

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// It computed, on its device where that was traced.
Nanos BusyOf(const RankIteration& rank);

// Of its wait for batches, their makers waited for a core.
Nanos StarvedOf(const RankIteration& rank);

// It waited for its batches beyond what their makers waited for a core.
Nanos LoadingOf(const RankIteration& rank);

// It, or who makes its batches, waited for a core.
Nanos CoreWaitOf(const RankIteration& rank);

// What it is answerable for.
Nanos OwnTimeOf(const RankIteration& rank);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_RANK_TIMES_H_
