// A small job with every kind of parallelism.
//
// Used by tests of the simulator.
#ifndef FATHOM_TESTS_COLLECTOR_SIMULATE_PARALLEL_JOB_H_
#define FATHOM_TESTS_COLLECTOR_SIMULATE_PARALLEL_JOB_H_

#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate {

inline Scenario JobOf(Schedule schedule, Sharding sharding) {
  Scenario job;
  job.plan = {.tensor = 2,
              .sequence_parallel = true,
              .context = 2,
              .pipeline = 4,
              .data = 4,
              .expert = 2,
              .schedule = schedule,
              .sharding = sharding};
  if (schedule == Schedule::kInterleaved) job.plan.virtual_stages = 2;
  job.model.experts = 4;
  return job;
}

}  // namespace fathom::simulate

#endif  // FATHOM_TESTS_COLLECTOR_SIMULATE_PARALLEL_JOB_H_
