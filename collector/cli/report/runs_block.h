// Two runs of a job against each other: what became slower, and what had been changed.
//
// Used by `fathom compare`. Takes the collector's JSON and gives text.
// Thread-safety: pure functions. Errors: none; missing fields show as nothing.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_RUNS_BLOCK_H_
#define FATHOM_COLLECTOR_CLI_REPORT_RUNS_BLOCK_H_

#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

std::string RunsBlock(const Json& comparison, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_RUNS_BLOCK_H_
