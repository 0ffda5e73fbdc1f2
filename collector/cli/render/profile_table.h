// A window of detail as text: one line a rank, then what took the time on its GPU.
//
// Used by the verb `profile`. Thread-safety: pure. Errors: fields that are missing are blank.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_PROFILE_TABLE_H_
#define FATHOM_COLLECTOR_CLI_RENDER_PROFILE_TABLE_H_

#include <cstddef>
#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// `profile`: what /api/v1/jobs/JOB/profile answers; `activities`: how many of each rank.
std::string ProfileTable(const Json& profile, std::size_t activities);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_PROFILE_TABLE_H_
