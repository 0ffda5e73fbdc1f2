// What changed against another recording of the job, for `fathom analyze --against`.
//
// Used by analyze. `comparison` is that of a fathom.v1.Report; nothing is written where there is
// none. Thread-safety: pure function. Errors: none; missing fields are left out.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_COMPARISON_BLOCK_H_
#define FATHOM_COLLECTOR_CLI_REPORT_COMPARISON_BLOCK_H_

#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

std::string ComparisonBlock(const Json& comparison, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_COMPARISON_BLOCK_H_
