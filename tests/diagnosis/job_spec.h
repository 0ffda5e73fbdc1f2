// What a simulated training job looks like and what is wrong with it; read from YAML scenarios.
//
// Used by the tests of diagnosis. Times in milliseconds. Plain values.
#ifndef FATHOM_TESTS_DIAGNOSIS_JOB_SPEC_H_
#define FATHOM_TESTS_DIAGNOSIS_JOB_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::diagnosis::testing {

enum class JobType { kDdp, kTensorData, kPipeline, kRing, kServer };

enum class FaultKind {
  kNone,
  kCompute,     // more work on the CPU, in forward
  kSleep,       // off the CPU, between backward and the loss
  kGc,          // collects garbage there
  kDataLoader,  // its batch comes late
  kLink,        // all transfers of its groups take longer
  kContention,  // all ranks of its node wait for cores
  kGrowth,      // all ranks compute more
  kLonger,      // its batches hold more, and it computes as much more for it
  kStop,        // the rest: it hangs
  kLoop,
  kIdle,
  kDead,
  kMismatch,
  kSkip,
  kLinkDown,
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  std::uint32_t rank = 0;
  int from = 30;
  int every = 1;        // slow in every n-th iteration only
  int until = 1 << 30;  // first iteration that is well again
  double ms = 100;
};

struct JobSpec {
  JobType type = JobType::kDdp;
  std::uint32_t ranks = 4;
  std::uint32_t ranks_per_node = 4;
  std::uint32_t tensor = 2;     // ranks in a tensor group
  std::uint32_t replicas = 1;   // of a pipeline: rank = replica × stages + stage
  int micro_batches = 4;        // of a pipeline
  double last_stage_times = 1;  // work of the last stage against the others
  int iterations = 60;
  double iteration_ms = 30;    // computing of a rank in an iteration
  double transfer_ms = 0.6;    // of a collective
  bool rendezvous = false;     // a message leaves its sender when its receiver asks for it
  double jitter = 0.10;        // sigma of the logarithm of each piece of computing
  double preempt_rate = 0.05;  // pieces that lose a core …
  double preempt_ms = 8;       // … for up to this long
  std::uint64_t seed = 1;
  double stuck_s = 20;  // how long a hanging job is left to hang
  std::vector<Fault> faults;
  // Signals.
  bool waits = true;    // waits of callers are traced
  bool op_cpu = false;  // CPU clock at every op
  bool cpu = true;      // CPU time in summaries
  bool marks = true;
  bool members = true;  // groups know their members
};

}  // namespace fathom::diagnosis::testing

#endif  // FATHOM_TESTS_DIAGNOSIS_JOB_SPEC_H_
