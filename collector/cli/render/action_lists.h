// What fathom-cordon did and would do, as tables.
//
// Used by `fathom action plan` and `fathom get actions`. Each takes a whole answer of its API; what
// stops all actions (pause, breaker, problems) is said above the table.
// Thread-safety: pure functions. Errors: none; missing fields show as empty.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_ACTION_LISTS_H_
#define FATHOM_COLLECTOR_CLI_RENDER_ACTION_LISTS_H_

#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

std::string ActionsTable(const Json& answer, bool wide);
std::string PlanTable(const Json& answer, bool wide);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_ACTION_LISTS_H_
