// Compares stacks that are not the training thread's: of a rank's workers, of its other threads.
//
// Used by functions/loader_workers and functions/beside_threads. Model: as functions/compare, on a
// capture of the same ranks that has the other stacks in the place of theirs. Nothing is known of
// what they lost, of the order in which they were seen, or of what they did.
//
// Thread-safety: pure. Errors: as functions/compare. Cost: that of functions/compare, and a copy of
// the stacks.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_OTHER_STACKS_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_OTHER_STACKS_H_

#include <cstdint>
#include <vector>

#include "diagnosis/model/detail.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

// Which stacks of a rank, and of how many samples they are a part.
struct OtherStacks {
  std::vector<CapturedStack> RankStacks::*stacks;
  std::uint64_t RankStacks::*samples;
};

Detail CompareOthers(const StackCapture& capture, const OtherStacks& which, RankId culprit,
                     const std::vector<RankId>& peers);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_OTHER_STACKS_H_
