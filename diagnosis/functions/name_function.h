// Finds the function for a verdict on a slow rank in a capture of stacks, and tells of it.
//
// Used by collector/evaluate/capture_trigger, and by collector/verdict on every verdict that is
// told anew. docs/rules/functions.md.
//
// Model: the rank is compared with the captured ranks that do the same work and are accused of
// nothing. What is found goes into the sentence, the evidence and the action of its verdict.
//
// Thread-safety: pure. Errors: none. Cost: that of functions/compare and peers/peers.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_NAME_FUNCTION_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_NAME_FUNCTION_H_

#include <string>

#include "diagnosis/model/detail.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/stack_capture.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// Whether stacks can tell more of it: it convicts ranks of time of their own, on their hosts.
bool WantsFunction(const Verdict& verdict);

// Requires: WantsFunction. Of its first rank that the capture was made for.
Detail FindFunction(const JobView& view, const StackCapture& capture, const Verdict& verdict);

// Nothing where no function is known.
void TellFunction(const Detail& detail, Verdict& verdict);

// "write_metrics (train.py:85)".
std::string FunctionInWords(const HotFunction& where);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_NAME_FUNCTION_H_
