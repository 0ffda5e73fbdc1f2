// A job as its schedule: which op of which kind ran on which worker in which step, from when to
// when. The input of the what-if replay and of the rules that compare workers.
//
// Filled by importers of traces that name their ops (collector/import/ndtimeline); empty for jobs
// that are seen from outside, whose ops have no such names. Read by diagnosis/schedule and
// diagnosis/schedule.
//
// Model: a worker is one position in the job: pipeline stage × data-parallel replica. Where tensor
// parallelism splits a worker over several ranks, one of them stands for it. Ops of one kind on one
// worker in one step are numbered by `sequence`, from 0, in the order in which they began.
//
// Units and clocks: seconds from the start of the step, on a clock that all workers share as far as
// their clocks are set (NDTimeline aligns them); replay uses starts of different workers only to
// tell waiting from transfer, and ignores what is off by less than its tolerance.
// Thread-safety: plain values. Size: 40 bytes an op.
#ifndef FATHOM_DIAGNOSIS_MODEL_SCHEDULE_TRACE_H_
#define FATHOM_DIAGNOSIS_MODEL_SCHEDULE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/types/ids.h"

namespace fathom::diagnosis {

enum class OpKind : std::uint8_t {
  kForwardCompute,
  kBackwardCompute,
  kForwardSend,
  kForwardRecv,
  kBackwardSend,
  kBackwardRecv,
  kParamsAllGather,
  kGradsReduceScatter,
  kSeparateGradsAllReduce,
  kLayernormGradsAllReduce,
  kEmbeddingGradsAllReduce,
  kClipGradients,
  kOptimizer,
  kGarbageCollection,
};
inline constexpr std::size_t kOpKinds = 14;

// As traces and reports write it: "forward-compute". Both directions of a pipeline message are one
// kind to the reader of a report (ReportedKind).
std::string_view ToString(OpKind kind);
std::string_view ReportedKind(OpKind kind);

inline bool IsCompute(OpKind kind) {
  return kind == OpKind::kForwardCompute || kind == OpKind::kBackwardCompute;
}
inline bool IsPipelineMessage(OpKind kind) {
  return kind >= OpKind::kForwardSend && kind <= OpKind::kBackwardRecv;
}

struct Worker {
  std::int32_t replica = 0;  // data-parallel rank
  std::int32_t stage = 0;    // pipeline rank
  RankId rank;               // that stands for it
};

struct ScheduledOp {
  std::uint32_t step = 0;    // index into ScheduleTrace::steps
  std::uint32_t worker = 0;  // index into ScheduleTrace::workers
  OpKind kind = OpKind::kForwardCompute;
  std::int16_t chunk = -1;        // model chunk in the stage; -1: not said
  std::int16_t model_chunk = -1;  // of the model; -1: not said
  std::int32_t sequence = 0;
  std::int32_t micro_batch = -1;
  double start_s = 0;
  double duration_s = 0;  // of communication: waiting included
};

struct ScheduleTrace {
  std::vector<Worker> workers;         // sorted by replica, then stage
  std::vector<std::int64_t> steps;     // the job's own numbers, ascending; traces are sampled
  std::vector<ScheduledOp> ops;        // sorted by step, worker, start
  std::uint32_t ranks_per_worker = 1;  // where the source says so

  bool empty() const { return ops.empty(); }
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_SCHEDULE_TRACE_H_
