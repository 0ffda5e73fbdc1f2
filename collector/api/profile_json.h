// The window of detail of a job as JSON, and the parameters of a request for one.
//
// Used by Api. docs/formats/http_api.md explains the fields. Thread-safety: pure functions.
// Errors: ParseWish gives nothing for parameters that are no such numbers. Cost: O(ranks × names).
#ifndef FATHOM_COLLECTOR_API_PROFILE_JSON_H_
#define FATHOM_COLLECTOR_API_PROFILE_JSON_H_

#include <optional>
#include <string>

#include "collector/http/request.h"
#include "collector/job/state/job_state.h"

namespace fathom::collector {

std::string ProfileJson(const JobState& job);
[[nodiscard]] std::optional<WindowWish> ParseWish(const Request& request);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_PROFILE_JSON_H_
