// How far the clocks of ranks are apart, in words, from a report's coverage.
//
// Used by the screen of `fathom analyze --verbose`. Ranks whose clock lies within its residual of
// the reference are told together in one line.
// Thread-safety: pure function. Errors: none; empty where the report tells no clocks.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_CLOCKS_H_
#define FATHOM_COLLECTOR_CLI_REPORT_CLOCKS_H_

#include <string>
#include <vector>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// "rank 3: +1.2 ms against rank 0, to within 12 us, by 40 collectives".
std::vector<std::string> ClockLines(const Json& report);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_CLOCKS_H_
