// When a recovery did what, how long each stage of it took, and what it cost.
//
// Used by `fathom recover` for its journal, by the API for what it was told, and by month/. Stages:
//
//   detection   from the onset until somebody read the verdict and asked for a plan
//   decision    from then until the first step: reading, answering
//   isolation   from the first step until the sick node was out of the job
//   restart     from then until the first iteration without it
//   warm-up     from then until the usual pace
//   lost work   since the checkpoint, done anew at healthy speed
//
// While the job still ran (detection, decision, the standby) it lost only its slowdown; from the
// order to isolate on it stood. A stage that is not over, or of which an end is not known, is
// negative.
//
// Units: wall ns, 0 for what was not; seconds, GPU-hours. Thread-safety: pure functions. Errors:
// none.
#ifndef FATHOM_COLLECTOR_RECOVERY_RECOVERY_STAGES_H_
#define FATHOM_COLLECTOR_RECOVERY_RECOVERY_STAGES_H_

#include <cstdint>

#include "collector/cli/text/json_fields.h"

namespace fathom::collector {

struct RecoveryTimes {
  std::int64_t onset_ns = 0, planned_ns = 0, begun_ns = 0, first_step_ns = 0;
  std::int64_t isolating_ns = 0, isolated_ns = 0, running_ns = 0, warm_ns = 0, ended_ns = 0;
  int processes = 0;
  double slowdown = 1;       // while the fault lasted
  bool stood_still = false;  // by the fault, before anybody did anything
  double plan_lost_work_s = 0;
};

struct RecoveryStages {
  double detection_s = -1, decision_s = -1, isolation_s = -1, restart_s = -1, warm_s = -1;
  double lost_work_s = 0;
  double stood_s = -1;         // from the order to isolate until the first iteration
  double lost_gpu_hours = -1;  // standing still and lost work, all processes
  double won_per_hour = 0;     // GPU-hours not lost any more in each hour of work
};

RecoveryStages StagesOf(const RecoveryTimes& times);

// {"detection_s", …, "stood_s"}, without those that are not known.
cli::Json StagesJson(const RecoveryStages& stages);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RECOVERY_RECOVERY_STAGES_H_
