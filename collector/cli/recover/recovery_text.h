// A recovery plan as text, for a terminal.
//
// Used by `fathom recover`. Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_RECOVER_RECOVERY_TEXT_H_
#define FATHOM_COLLECTOR_CLI_RECOVER_RECOVERY_TEXT_H_

#include <string>

#include "collector/recovery/recovery_plan.h"

namespace fathom::cli {

std::string RecoveryText(const collector::SickJob& job, const collector::RecoveryPlan& plan);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RECOVER_RECOVERY_TEXT_H_
