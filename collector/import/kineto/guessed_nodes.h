// Which ranks share a node, where no trace names its host: by the numbers of their GPUs.
//
// Used by job_builder. Model: processes that see all GPUs of their node use number 0, 1, … in the
// order of their ranks, so that a node ends where the numbers begin again. Guessed only where that
// cuts all ranks of the job into nodes of one size, two ranks or more each; ranks that all use
// number 0 (each sees one GPU only) tell nothing. The job then has nodes called "node#0", "node#1",
// …, and a note says so.
//
// Thread-safety: pure. Errors: none. Cost: O(ranks log ranks).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_GUESSED_NODES_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_GUESSED_NODES_H_

#include <vector>

#include "collector/import/kineto/trace/rank_trace.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector::kineto {

// Requires: traces by rank; the facts of all ranks are in the recording.
void GuessNodes(const std::vector<RankTrace>& traces, Recording& recording);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_GUESSED_NODES_H_
