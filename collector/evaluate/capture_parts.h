// What captures of stacks are asked with, by themselves or by hand.
//
// Used by CaptureTrigger and HandCaptures. Thread-safety: plain references, set once. Lifetime: all
// of it outlives who holds it.
#ifndef FATHOM_COLLECTOR_EVALUATE_CAPTURE_PARTS_H_
#define FATHOM_COLLECTOR_EVALUATE_CAPTURE_PARTS_H_

#include <functional>
#include <string>

#include "collector/agents/capture_requests.h"
#include "collector/budget/centre_work.h"
#include "collector/job/state/job_state.h"
#include "collector/verdict/verdict_ledger.h"

namespace fathom::collector {

struct CaptureParts {
  CaptureRequests& captures;
  VerdictLedger& ledger;
  std::function<void(const std::string& line)> say;
  NodeConnected connected;
  const Clock& clock;
  CentreWork* work = nullptr;  // where what it costs is counted; may be null
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_CAPTURE_PARTS_H_
