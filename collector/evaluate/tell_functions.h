// Tells the verdicts of a job what a capture of stacks shows.
//
// Used by CaptureTrigger on a live job and by import/fathom on a recording, so that both tell the
// same. Model: a capture is for the open verdicts that want a function, have none yet, and convict
// one of those that it was made for.
//
// Thread-safety: thread-safe. Errors: none; a verdict for which it shows nothing is told why.
// Cost: one comparison a verdict.
#ifndef FATHOM_COLLECTOR_EVALUATE_TELL_FUNCTIONS_H_
#define FATHOM_COLLECTOR_EVALUATE_TELL_FUNCTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collector/process/clock.h"
#include "collector/verdict/verdict_ledger.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::collector {

struct FunctionsTold {
  std::uint64_t named = 0, open = 0;  // verdicts
};

bool WantsCapture(const Episode& episode);

// `say`: hears a line for each verdict; may be empty.
FunctionsTold TellFunctions(const diagnosis::JobView& view, const diagnosis::StackCapture& capture,
                            VerdictLedger& ledger, const Clock& clock,
                            const std::function<void(const std::string& line)>& say);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_TELL_FUNCTIONS_H_
