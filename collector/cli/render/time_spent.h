// Where the time of a recorded job went, in short: a line a rank, and what ran longest.
//
// Used by analyze_command. The whole is in the files of `--tables`.
// Thread-safety: pure function. Errors: none; empty where nothing was traced.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_TIME_SPENT_H_
#define FATHOM_COLLECTOR_CLI_RENDER_TIME_SPENT_H_

#include <string>

#include "collector/cli/render/terminal.h"
#include "diagnosis/tables/job_tables.h"

namespace fathom::cli {

std::string TimeSpent(const diagnosis::JobTables& tables, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_TIME_SPENT_H_
