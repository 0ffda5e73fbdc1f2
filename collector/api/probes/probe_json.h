// Orders for probes as JSON, and out of a request.
//
// Used by probe_api. docs/formats/http_api.md is the contract. Thread-safety: pure functions.
// Errors: ParseProbeWish gives InvalidArgument with what to do; with `job` the nodes are the
// caller's to fill.
#ifndef FATHOM_COLLECTOR_API_PROBES_PROBE_JSON_H_
#define FATHOM_COLLECTOR_API_PROBES_PROBE_JSON_H_

#include <absl/status/statusor.h>

#include <string>

#include "collector/agents/probe_requests.h"
#include "collector/http/request.h"

namespace fathom::collector {

std::string ProbeRequestJson(const ProbeRequest& request);
absl::StatusOr<ProbeWish> ParseProbeWish(const Request& request);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_PROBES_PROBE_JSON_H_
