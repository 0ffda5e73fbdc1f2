// What is traced on each rank of a running job: by which source, at which tier, and what is hidden
// where one is missing.
//
// Used by `doctor --job`. Model: the collector's health answer tells of each source whether it has
// told something (on), waits for something to tell (ready), or is off. Tier: 0 calls at the API, 1
// times of the GPU by NCCL's profiler plugin, 2 kernels by a window of detail.
// Thread-safety: pure functions. Errors: fields that are missing are blank.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_JOB_SOURCES_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_JOB_SOURCES_H_

#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// `health`: what /api/v1/jobs/JOB/health answers.
std::string JobSourcesTable(const Json& health);
Json JobSourcesJson(const Json& health);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_JOB_SOURCES_H_
