// What recoveries cost in a stretch of time: how long their stages took, and the GPU-hours in which
// the job stood by fathom's hand or did work anew.
//
// Used by loss_account. Model: of a recovery the job stands from the order to isolate until the
// first iteration, or until it was ended without one; of one that is under way until it was last
// heard of. The work since the checkpoint is done anew from then on, and booked there. Of one whose
// sick node never left nothing is booked. Before the isolation and during the warm-up the job runs,
// and its slowness is its verdict's: their minutes are told, their GPU-hours not.
//
// Units: wall time; seconds, GPU-hours. Thread-safety: pure functions. Errors: none; times in the
// wrong order count nothing. Cost: O(1) a recovery.
#ifndef FATHOM_COLLECTOR_MONTH_RECOVERY_LOSS_H_
#define FATHOM_COLLECTOR_MONTH_RECOVERY_LOSS_H_

#include <string>
#include <vector>

#include "collector/recovery/told_recovery.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

struct StageLoss {
  std::string stage;  // "detection", "decision", "isolation", "restart", "warm-up", "lost work"
  double seconds = 0;
  double gpu_hours = 0;
};

struct RecoveryLosses {
  std::size_t count = 0;  // of which anything lies in the stretch
  std::size_t recovered = 0;
  std::vector<StageLoss> stages;  // all six, in their order
};

RecoveryLosses RecoveryLossesOf(const std::vector<ToldRecovery>& recoveries, WallNs since,
                                WallNs until);

// The GPU-hours of one that lie in [begin, end): the sum of its stages there.
double RecoveryHours(const ToldRecovery& recovery, WallNs begin, WallNs end);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_MONTH_RECOVERY_LOSS_H_
