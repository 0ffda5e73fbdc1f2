// Runs as the HTTP API writes them. docs/formats/http_api.md.
//
// Used by the API. Units: seconds, ns of wall time. Thread-safety: pure functions. Errors: none.
#ifndef FATHOM_COLLECTOR_RUNS_RUN_JSON_H_
#define FATHOM_COLLECTOR_RUNS_RUN_JSON_H_

#include <string>

#include "collector/store/run_record.h"

namespace fathom::collector {

// The run as a list has it. `running`: it is what its job is at this moment.
std::string RunJson(const RunRecord& run, bool running);
// With its distributions and its setup.
std::string WholeRunJson(const RunRecord& run, bool running);
// `after` against `before`, each as RunJson has it.
std::string ComparedRunsJson(const RunRecord& before, const RunRecord& after,
                             const std::string& before_json, const std::string& after_json);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RUNS_RUN_JSON_H_
