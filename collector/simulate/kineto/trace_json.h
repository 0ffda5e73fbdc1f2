// What a rank did, as torch.profiler prints it (Kineto's JSON, as chrome://tracing reads it).
//
// Used by kineto/trace_files. Holds the events that readers of such traces use: cuda_runtime,
// cpu_op, user_annotation, kernel, gpu_memcpy; communication with its metadata on
// record_param_comms and on the NCCL kernel, as of PyTorch 2.4; pg_config of the communicators.
//
// Units: µs; `shift_us`: what the clock of the node is off. Thread-safety: pure functions.
// Errors: none. Cost: O(events), some 200 bytes each.
#ifndef FATHOM_COLLECTOR_SIMULATE_KINETO_TRACE_JSON_H_
#define FATHOM_COLLECTOR_SIMULATE_KINETO_TRACE_JSON_H_

#include <cstdint>
#include <string>

#include "collector/simulate/kineto/job_play.h"

namespace fathom::simulate::kineto {

std::string TraceJson(const JobPlay& job, std::uint32_t rank, double shift_us,
                      std::uint32_t gpus_per_node);

}  // namespace fathom::simulate::kineto

#endif  // FATHOM_COLLECTOR_SIMULATE_KINETO_TRACE_JSON_H_
