// Marks the iterations of traces without ProfilerStep by the annotation of the user's around a
// step.
//
// Used by KinetoImporter before MarkSteps(), which tells them by what repeats.
//
// Model: a training loop often stands in record_function("train_step"), "step 12" or a trainer's
// own; in names numbers are left out. An annotation marks steps if on every rank it lasts for
// `kMostOfTrace` of what its training thread recorded, comes twice or more and never within itself,
// and all ranks have as many of it, in which they ran the same collectives, at least one in all.
// Of several the one that comes least often is taken, for parts of a step come more often than it.
//
//   rank 0   |train_step|train_step|train_step|        becomes   iterations 0, 1, 2
//   rank 1   |train_step|train_step|train_step|
//
// Thread-safety: pure. Errors: none; where nothing fits, nothing is marked.
// Cost: O(annotations of a millisecond and more + ops).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_USER_MARKS_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_USER_MARKS_H_

#include <string>
#include <vector>

#include "collector/import/kineto/trace/rank_trace.h"

namespace fathom::collector::kineto {

// Fills `steps` of all traces, or of none: where a trace has marks, or no annotation fits. Returns
// how it told the iterations; empty where it did not.
std::string MarkStepsOfUser(std::vector<RankTrace>& traces);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_USER_MARKS_H_
