// How long each stage of a recovery took, what it cost, and the record of it as text and JSON.
//
// Used by `recover show`, and by `recover run` at its end. Stages:
//
//   detection   from the onset until somebody read the verdict and asked for a plan
//   decision    from then until the first step: reading, answering
//   isolation   from the first step until the sick node was out of the job
//   restart     from then until the first iteration without it
//   warm-up     from then until the usual pace
//   lost work   since the checkpoint, done anew at healthy speed
//
// While the job still ran (detection, decision, the standby) it lost only its slowdown; from the
// isolation on it stood. A stage that is not over, or of which an end is not known, is negative.
//
// Units: seconds, GPU-hours. Thread-safety: pure functions. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_STAGES_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_STAGES_H_

#include <string>
#include <vector>

#include "collector/cli/remedy/recovery_history.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

struct RecoveryStages {
  double detection_s = -1, decision_s = -1, isolation_s = -1, restart_s = -1, warm_s = -1;
  double lost_work_s = 0;
  double stood_s = -1;         // from the sick node's leaving on until the first iteration
  double lost_gpu_hours = -1;  // standing still and lost work, all processes
  double won_per_hour = 0;     // GPU-hours not lost any more in each hour of work
};

RecoveryStages StagesOf(const Recovery& recovery);

std::string RecoveryListText(const std::vector<Recovery>& all);
std::string RecoveryRecordText(const Recovery& recovery);
Json RecoveryRecordJson(const Recovery& recovery);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_STAGES_H_
