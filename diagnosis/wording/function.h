// Which Python function a rank's excess lies in, where the trace has stacks.
//
// Used by wording/phrase. Model: a function's time in slow iterations beyond that in baseline ones
// (medians of the sum an iteration); of those that cover most of the excess, the innermost is the
// one with the least time. Thread-safety: pure. Cost: O(function calls of the rank).
#ifndef FATHOM_DIAGNOSIS_WORDING_FUNCTION_H_
#define FATHOM_DIAGNOSIS_WORDING_FUNCTION_H_

#include <string>

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

// Its name as the source writes it; empty where no function is traced that explains the excess.
std::string FunctionOf(const Case& c, RankId rank, double excess);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WORDING_FUNCTION_H_
