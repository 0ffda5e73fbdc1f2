// A pipeline job as NDTimeline would record it: stages × replicas, micro-batches, model chunks.
//
// Used by made_trace_test for shapes that the real trace does not have. Model: workers run the
// 1F1B order, or Megatron's interleaved order with several chunks; a computing op begins when the
// worker is free and its input has come; a receive is posted when the computing of its direction
// before it is done. Then reductions, clipping and optimizer. Messages that the ends of the model
// do not send are recorded with no length, as such traces do.
//
// Units: seconds. Thread-safety: pure function.
#ifndef FATHOM_TESTS_COLLECTOR_IMPORT_NDTIMELINE_MADE_TRACE_H_
#define FATHOM_TESTS_COLLECTOR_IMPORT_NDTIMELINE_MADE_TRACE_H_

#include <functional>

#include "diagnosis/model/schedule_trace.h"

namespace fathom::collector::ndtimeline {

struct JobShape {
  std::int32_t replicas = 2;
  std::int32_t stages = 4;
  std::int32_t chunks = 1;         // in a stage
  std::int32_t micro_batches = 8;  // a multiple of stages where chunks > 1
  std::uint32_t steps = 12;
  double message_s = 0.001;
};

// How long a computing op takes: chunk and micro-batch are set.
using ComputingTime =
    std::function<double(const diagnosis::Worker&, const diagnosis::ScheduledOp&)>;

diagnosis::ScheduleTrace MakeTrace(const JobShape& shape, const ComputingTime& time);

}  // namespace fathom::collector::ndtimeline

#endif  // FATHOM_TESTS_COLLECTOR_IMPORT_NDTIMELINE_MADE_TRACE_H_
