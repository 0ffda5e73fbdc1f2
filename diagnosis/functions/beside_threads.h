// Looks at the other threads of a rank's process, where its training thread does not show why.
//
// Used by functions/name_function and functions/compare_ranks on what functions/compare found of
// the training thread.
//
// Model: Python runs one thread at a time. Where another one wants its lock, all that the training
// thread does takes longer, a little everywhere, and no function of its own has grown. Then the
// stacks of those other threads that used a core are compared with those of the peers' other
// threads likewise, in shares of the same time. That it holds the rank back is not proven by that;
// that no peer has it is.
//
// Thread-safety: pure. Errors: what was found of the training thread stays where they tell nothing.
// Cost: that of functions/compare.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_BESIDE_THREADS_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_BESIDE_THREADS_H_

#include <vector>

#include "diagnosis/model/detail.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

Detail LookBeside(const StackCapture& capture, RankId culprit, const std::vector<RankId>& peers,
                  const Detail& seen);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_BESIDE_THREADS_H_
