// What the ops of each rank come to in each iteration, by communicator.
//
// Used by importers once rows and iterations are known; again when rows were given other groups.
// Thread-safety: pure. Errors: none; ops of no iteration are left out. Cost: O(ops log iterations).
#ifndef FATHOM_COLLECTOR_IMPORT_READING_OP_SUMMARIES_H_
#define FATHOM_COLLECTOR_IMPORT_READING_OP_SUMMARIES_H_

#include "diagnosis/model/job_view.h"

namespace fathom::collector {

// Fills RankIteration::groups and ops of every iteration from the rows.
void SummariseOps(diagnosis::JobView& view);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_READING_OP_SUMMARIES_H_
