// What people change of a running job's tracing, as the API answers it: switches and stacks.
//
// Used by Api, and by profile_json (ParseRanks). docs/formats/http_api.md is the contract.
// Thread-safety: pure but for the job's lock. Errors: ParseSwitch gives InvalidArgument with what
// to do. Cost: O(ranks).
#ifndef FATHOM_COLLECTOR_API_TRACE_JSON_H_
#define FATHOM_COLLECTOR_API_TRACE_JSON_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "collector/http/request.h"
#include "collector/job/state/job_state.h"

namespace fathom::collector {

// What is off now, and the newest order.
std::string TraceJson(const JobState& job);
// The stacks that were asked for last.
std::string StacksJson(const JobState& job);

absl::StatusOr<SwitchWish> ParseSwitch(const Request& request);
// Of a list like "0,3,5"; empty for none. Nothing: not such a list.
[[nodiscard]] std::optional<std::vector<RankId>> ParseRanks(const std::string& list);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_TRACE_JSON_H_
