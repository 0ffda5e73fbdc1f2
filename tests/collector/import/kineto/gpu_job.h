// Traces of a made-up data-parallel job on GPUs, as PyTorch's profiler writes them, with a fault.
//
// Used by tests. Each rank has a host that launches ahead of its device, a compute stream and a
// stream for NCCL; gradients are reduced in buckets while backward runs on; a collective ends on
// all ranks together, when the last has come and the transfer is done.
//
// Units: µs inside, as in the files. Thread-safety: plain values.
#ifndef FATHOM_TESTS_COLLECTOR_IMPORT_KINETO_GPU_JOB_H_
#define FATHOM_TESTS_COLLECTOR_IMPORT_KINETO_GPU_JOB_H_

#include <string>
#include <vector>

namespace fathom::collector::kineto {

enum class GpuFault { kNone, kSlowGpu, kSlowHost, kDataLoader, kCollector, kSlowCommunication };

// What a version of PyTorch writes.
enum class TraceStyle {
  kNewest,      // record_param_comms with group and Seq; relative times
  kNoSequence,  // as before 2.4
  kLaunchIds,   // 1.12 to 2.2: the External id of a kernel is its correlation id, and as well an
                // op's
  kRocm,        // the same, and no correlation id
  kOldest,      // `Kernel`, `Runtime`, `nccl:all_reduce`; no groups; absolute times
};

struct GpuJob {
  int ranks = 4;
  int steps = 14;
  GpuFault fault = GpuFault::kNone;
  int faulty_rank = 2;
  int from_step = 6;
  int until_step = 1 << 20;  // the first that is well again
  TraceStyle style = TraceStyle::kNewest;
  bool host_waits = true;  // for the loss, at the end of each step
  unsigned seed = 1;
};

// The trace of each rank. Their clocks are apart by milliseconds.
std::vector<std::string> TracesOf(const GpuJob& job);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_TESTS_COLLECTOR_IMPORT_KINETO_GPU_JOB_H_
