// What was used and lost over weeks, from /api/v1/losses: for people, and as CSV for a spreadsheet.
//
// Used by `fathom report`. Thread-safety: pure functions. Errors: none; fields that are missing
// read as nothing.
#ifndef FATHOM_COLLECTOR_CLI_MONTH_LOSS_TABLES_H_
#define FATHOM_COLLECTOR_CLI_MONTH_LOSS_TABLES_H_

#include <cstddef>
#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// At most `most` lines of each table; what is left out is counted.
std::string LossTables(const Json& losses, std::size_t most, const Terminal& terminal);

// One line a week, job, cause and node: week,team,job,cause,owner,node,verdicts,used_gpu_hours,
// lost_gpu_hours. Lines without a cause tell what was used.
std::string LossCsv(const Json& losses);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_MONTH_LOSS_TABLES_H_
