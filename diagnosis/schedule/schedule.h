// A ScheduleTrace as dense tables: the same ops in every step and replica, a column for each.
//
//             lane 0        lane 1       …      lane = step × replicas + replica
//   op 0      start, dur    start, dur
//   op 1      …                                 op: (stage, kind, sequence)
//
// Used by dependencies, replay and what_if, and by roles. Model: most steps of a job consist of the
// same ops. Steps in which any worker has other ops than most (a trace cut at its ends, an
// evaluation) are left out and counted, so that every op has a value in every lane.
//
// Units: seconds from the start of the step. Thread-safety: plain values.
// Errors: no common step gives an empty schedule. Cost: O(ops log ops).
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_SCHEDULE_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/model/schedule_trace.h"

namespace fathom::diagnosis {

struct PlannedOp {
  std::int32_t stage = 0;
  OpKind kind = OpKind::kForwardCompute;
  std::int32_t sequence = 0;
  std::int16_t chunk = -1;
  std::int16_t model_chunk = -1;
  std::int32_t micro_batch = -1;
};

struct Schedule {
  std::size_t replicas = 0;
  std::size_t stages = 0;
  std::vector<std::int64_t> steps;  // those kept, by the job's numbers
  std::size_t steps_left_out = 0;
  std::vector<PlannedOp> ops;    // sorted by stage, kind, sequence
  std::vector<double> start_s;   // [op × lanes + lane]
  std::vector<double> length_s;  // the same

  std::size_t lanes() const { return steps.size() * replicas; }
  bool empty() const { return ops.empty() || steps.empty(); }
  double start(std::size_t op, std::size_t lane) const { return start_s[op * lanes() + lane]; }
  double end(std::size_t op, std::size_t lane) const {
    return start_s[op * lanes() + lane] + length_s[op * lanes() + lane];
  }
};

// Empty where replicas or stages are not numbered from 0 without gaps, or no step is whole.
Schedule PlanOf(const ScheduleTrace& trace);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_SCHEDULE_H_
