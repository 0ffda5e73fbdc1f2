// A run of probes on one node: read from the lines of fathom-probe, and judged.
//
// Used by `fathom probe`.
//
// Model: lines are proto-JSON (proto/fathom/v1/probe.proto); diagnosis/peers/probe_judgement knows
// what is slow; this is the way between the two.
//
// Thread-safety: pure functions. Errors: kInvalidArgument with the number of the line that is none.
#ifndef FATHOM_COLLECTOR_PROBE_PROBE_RUN_H_
#define FATHOM_COLLECTOR_PROBE_PROBE_RUN_H_

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/peers/probe_judgement.h"
#include "fathom/v1/probe.pb.h"

namespace fathom::collector {

// Adds to `run`.
absl::Status ReadProbeLines(std::string_view lines, v1::NodeProbe& run);

// "AMD EPYC, avx2, 2 of 2 cores, 1 NUMA node, 24 GiB": equal for peers. Memory is rounded, because
// what the kernel keeps for itself differs by a little.
std::string HardwareOf(const v1::ProbeMachine& machine);
// With its GPUs: ", 8 x NVIDIA H100".
std::string HardwareOf(const v1::NodeProbe& run);

// Puts a judgement into `run`; `peers` and `past` are other runs, of other hardware too. Runs that
// found something are left out of `past`.
void JudgeRun(const std::vector<v1::NodeProbe>& peers, const std::vector<v1::NodeProbe>& past,
              const diagnosis::ProbeLimits& limits, v1::NodeProbe& run);

bool FoundSomething(const v1::NodeProbe& run);

// As one line of JSON, and back. kInvalidArgument.
std::string ProbeRunJson(const v1::NodeProbe& run);
absl::Status ReadProbeRun(std::string_view json, v1::NodeProbe& run);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_PROBE_PROBE_RUN_H_
