// A capture of stacks as JSON, and the parameters of a request for one.
//
// Used by Api. docs/formats/http_api.md explains the fields. Thread-safety: pure functions.
// Errors: ParseCapture gives InvalidArgument with what to do. Cost: O(stacks).
#ifndef FATHOM_COLLECTOR_EVALUATE_HAND_CAPTURE_JSON_H_
#define FATHOM_COLLECTOR_EVALUATE_HAND_CAPTURE_JSON_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "collector/evaluate/hand_captures.h"
#include "collector/http/request.h"

namespace fathom::collector {

// `stacks`: with the stacks of each rank, which may be 30 KiB each.
std::string CaptureJson(const std::string& job, const HandCapture& capture, bool stacks);

// Of `ranks` (read already) and the request's seconds, iterations, rate, native.
absl::StatusOr<CaptureWish> ParseCapture(const Request& request, std::vector<RankId> ranks);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_HAND_CAPTURE_JSON_H_
