// What a recording does not tell, for people: what could not be answered, what its files do not
// show, and what was noted on reading them.
//
// Used by analysis_page. In short: one line of each, in plain words. Thread-safety: pure functions.
// Errors: none; fields that the report lacks are left out.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_GAPS_H_
#define FATHOM_COLLECTOR_CLI_REPORT_GAPS_H_

#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/report/analysis_page.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

std::string Gaps(const Json& report, const AnalysisRemarks& remarks, const Terminal& terminal);

// With the names of the signals and the ignored files.
std::string AllGaps(const Json& report, const AnalysisRemarks& remarks, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_GAPS_H_
