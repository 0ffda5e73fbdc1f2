// Marks the iterations of traces that mark none, at collectives that all ranks ran.
//
// Used by KinetoImporter before the rows are made.
//
// Model: of each rank the collectives in the order of their calls. Where all of them name group
// and sequence those that every rank has; else all, which must be the same ops in the same order on
// all ranks, and nobody may leave one before all came to it, by more than half an iteration: else
// the traces begin at different places. FindPeriod() on kind and size. Of the places in the period
// at which an iteration could end, that after which the ranks take longest until the next op is
// taken (medians over the recording, summed over ranks), and a mark is put there.
//
// Thread-safety: pure. Errors: none; what cannot be told is said. Cost: O(ops log ops).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_STEP_SEARCH_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_STEP_SEARCH_H_

#include <string>
#include <vector>

#include "collector/import/kineto/trace/rank_trace.h"

namespace fathom::collector::kineto {

// Fills `steps` of all traces, or of none. Returns how it told the iterations, or why it could not;
// empty where a trace has marks or no trace communicates.
std::string MarkSteps(std::vector<RankTrace>& traces);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_STEP_SEARCH_H_
