// The line of `fathom analyze` where there is no verdict: nothing wrong, nobody named, or not told.
//
// Used by analyze_command.
// Thread-safety: pure function. Errors: none; fields that the report lacks are taken as empty.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_NOTHING_FOUND_H_
#define FATHOM_COLLECTOR_CLI_REPORT_NOTHING_FOUND_H_

#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// Between `shortest` and `longest`, in seconds, lie 8 of 10 iterations; 0: not known. Requires: a
// fathom.v1.Report without verdicts.
std::string NothingFound(const Json& report, double shortest, double longest);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_NOTHING_FOUND_H_
