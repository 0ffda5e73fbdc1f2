// A recovery plan as JSON: docs/formats/http_api.md.
//
// Used by `fathom recover` and by the API. Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_RECOVERY_RECOVERY_JSON_H_
#define FATHOM_COLLECTOR_RECOVERY_RECOVERY_JSON_H_

#include "collector/cli/text/json_fields.h"
#include "collector/recovery/recovery_plan.h"

namespace fathom::collector {

cli::Json RecoveryJson(const SickJob& job, const RecoveryPlan& plan);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RECOVERY_RECOVERY_JSON_H_
