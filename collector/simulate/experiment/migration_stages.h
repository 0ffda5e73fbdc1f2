// What a restart and a migration of a large job take, stage by stage: a model of few constants.
//
// Used by migration_tables. Model: stages follow one another; in `pauses` ones the whole job
// stands, the others go on beside it. A restart: start of processes, checkpoint, communicators,
// warm-up, all of all ranks. A planned migration prepares the same beside the job, for the ranks
// that join, and pauses for the switch. After a failure a general standby, prepared before, takes
// over at once; what the lost ranks held comes from their replicas, and the work since the border
// is done anew.
//
// Each constant is one that TrainMover (OSDI '26) measured, or follows from two of them; `source`
// tells which. Fitted and predicted figures are told apart by the caller. What is not modelled: how
// long detection takes, a file system that many ranks share, how the switch finds its border.
//
// Units: seconds, GPU-hours. Thread-safety: pure functions. Errors: none. Cost: O(1).
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_MIGRATION_STAGES_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_MIGRATION_STAGES_H_

#include <cstdint>
#include <vector>

namespace fathom::simulate {

enum class Way { kRestart, kPlanned, kFailure };

struct Stage {
  const char* name;
  double seconds;
  bool pauses;
  const char* source;
};

std::vector<Stage> StagesOf(Way way, std::uint32_t ranks);

// Of those that pause, or of the others.
double StageSeconds(const std::vector<Stage>& stages, bool pauses);
double LostGpuHours(const std::vector<Stage>& stages, std::uint32_t ranks);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_MIGRATION_STAGES_H_
