// The API's own objects about jobs, as JSON text: docs/formats/http_api.md.
//
// Used by Api and by the events. Numbers are JSON numbers, also 64-bit ones; group ids are hex.
// Thread-safety: pure functions (JobState has its own lock). Cost: O(what is written).
#ifndef FATHOM_COLLECTOR_API_JOB_JSON_H_
#define FATHOM_COLLECTOR_API_JOB_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/agents/session_registry.h"
#include "collector/http/json_writer.h"
#include "collector/job/state/job_state.h"
#include "collector/verdict/episode.h"

namespace fathom::collector {

// "running", "slow", "hung", "stalled", "ended".
std::string_view JobStateName(const JobFigures& figures, const std::vector<Episode>& episodes);

// The fields of a job, without braces.
void WriteJob(const JobFigures& figures, const std::vector<Episode>& episodes, JsonWriter& json);
// "groups" and "rank_info".
void WriteMembers(const JobState& job, const NodeConnected& connected, JsonWriter& json);
// The whole answer of …/iterations.
std::string IterationsJson(const JobState& job, std::int64_t after, std::size_t limit);
// The whole answer of …/health.
std::string HealthJson(const JobState& job, const std::vector<AgentFacts>& agents);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_JOB_JSON_H_
