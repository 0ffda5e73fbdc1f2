// How long each worker computed in each step, and against its peers: the workers that hold the same
// stage in other replicas and are given the same work by design.
//
// Used by schedule/slow_workers and schedule/unequal_work. Units: seconds, ratios. A worker is
// found by replica × stages + stage. Thread-safety: plain values, pure functions. Cost: O(ops).
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_WORKER_LOAD_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_WORKER_LOAD_H_

#include <cstddef>
#include <vector>

#include "diagnosis/schedule/replay.h"
#include "diagnosis/schedule/schedule.h"

namespace fathom::diagnosis {

struct WorkerLoads {
  std::size_t replicas = 0;
  std::size_t stages = 0;
  std::size_t steps = 0;
  std::vector<double> seconds;  // [(replica × stages + stage) × steps + step]

  double at(std::size_t replica, std::size_t stage, std::size_t step) const {
    return seconds[(replica * stages + stage) * steps + step];
  }
};

// Sums the forward and backward computing in `lengths`.
WorkerLoads LoadsOf(const Schedule& schedule, const Lengths& lengths);

// Against the median of its peers, an entry a step. Requires: two replicas.
std::vector<double> AgainstPeers(const WorkerLoads& loads, std::size_t replica, std::size_t stage);

// `lengths` with the computing of one worker taken from its peers: op by op their median.
// Requires: two replicas.
void RepairByPeers(const Schedule& schedule, std::size_t replica, std::size_t stage,
                   Lengths& lengths);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_WORKER_LOAD_H_
