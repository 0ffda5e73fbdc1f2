// `fathom get plan`: of each collector, and of each node what its agent does, at which rate, and
// what that takes of the budget.
//
// Called by get_command. Takes the array of the reply. Thread-safety: pure. Errors: none; missing
// fields show as "-".
#ifndef FATHOM_COLLECTOR_CLI_PLAN_PLAN_TEXT_H_
#define FATHOM_COLLECTOR_CLI_PLAN_PLAN_TEXT_H_

#include <string>

#include "collector/cli/render/lists.h"

namespace fathom::cli {

std::string PlanText(const Json& plans, const ListStyle& style);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PLAN_PLAN_TEXT_H_
