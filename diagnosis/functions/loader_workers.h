// Looks into the workers of a data loader, where the training thread only waits for them.
//
// Used by functions/name_function and functions/compare_ranks on what functions/compare found of
// the training thread.
//
// Model: most of the excess that was found stands inside PyTorch's loader, waiting; then the main
// threads of the processes that the rank started are compared with those of its peers' likewise.
// Idle workers wait inside Python's own code, which is nobody's function.
//
// Thread-safety: pure. Errors: what was found of the training thread stays where the workers tell
// nothing. Cost: that of functions/compare.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_LOADER_WORKERS_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_LOADER_WORKERS_H_

#include <vector>

#include "diagnosis/model/detail.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

Detail LookIntoWorkers(const StackCapture& capture, RankId culprit,
                       const std::vector<RankId>& peers, const Detail& seen);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_LOADER_WORKERS_H_
