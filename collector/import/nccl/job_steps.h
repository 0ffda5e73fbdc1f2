// The iterations of a job that marks none, cut at ops that all its ranks share.
//
// Used by JobBuilder, after the rows are sorted.
//
// Model: the collectives of the communicator of all ranks that every rank with rows has, in the
// order in which every rank ran them; FindPeriod() on kind, size and the distance of their numbers,
// so that a lost op does not pass for a whole one. Of the places in the period at which iterations
// could end, that after which the ranks take longest until the next op is taken (medians over the
// recording, summed over ranks). Iteration k of a rank reaches from the end of its k-th such op to
// the end of the next, as in a live job; `blocked` is the time in communication kernels.
//
// Thread-safety: pure. Errors: none; without a period there are no iterations, and a note says so.
// Cost: O(ops log ops).
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_JOB_STEPS_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_JOB_STEPS_H_

#include "collector/import/reading/recording.h"

namespace fathom::collector::nccl {

// Fills view.window, and the iteration of every row. Requires: rows sorted by enter, all done.
void AddIterations(GroupId world, Recording& recording);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_JOB_STEPS_H_
