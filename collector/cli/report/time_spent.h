// Where the time of a recorded job went, for people: one line a rank.
//
// Used by analyze. Model: `report` is a fathom.v1.Report; of the time the ranks' totals account for
// (docs/formats/tables.md) the share of each part, and how long a rank waited and came late. Of
// many ranks, the culprits and those that others waited for most.
// Thread-safety: pure function. Errors: none; what the source does not tell is left out.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_TIME_SPENT_H_
#define FATHOM_COLLECTOR_CLI_REPORT_TIME_SPENT_H_

#include <cstddef>
#include <set>
#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// With at most `most` ranks; empty where no totals are known.
std::string TimeSpent(const Json& report, const std::set<std::int64_t>& culprits, std::size_t most,
                      const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_TIME_SPENT_H_
