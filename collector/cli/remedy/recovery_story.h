// The record of a recovery out of its journal: as text, as JSON, and as the collector is told it.
//
// Used by `recover show`, by `recover run` at its end, and by RecoveryTeller. What the stages are
// stands in recovery/recovery_stages.h.
//
// Units: wall ns. Thread-safety: pure functions. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_STORY_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_STORY_H_

#include <string>
#include <vector>

#include "collector/cli/remedy/recovery_history.h"
#include "collector/cli/text/json_fields.h"
#include "collector/recovery/recovery_stages.h"
#include "collector/recovery/told_recovery.h"

namespace fathom::cli {

collector::RecoveryTimes TimesOf(const Recovery& recovery);
collector::ToldRecovery ToldOf(const Recovery& recovery);

std::string RecoveryListText(const std::vector<Recovery>& all);
std::string RecoveryRecordText(const Recovery& recovery);
Json RecoveryRecordJson(const Recovery& recovery);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_STORY_H_
