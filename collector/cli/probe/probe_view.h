// A run of probes as text: what was measured, and what was made of it.
//
// Used by `fathom probe`. Thread-safety: pure functions.
#ifndef FATHOM_COLLECTOR_CLI_PROBE_PROBE_VIEW_H_
#define FATHOM_COLLECTOR_CLI_PROBE_PROBE_VIEW_H_

#include <string>

#include "fathom/v1/probe.pb.h"

namespace fathom::cli {

// "node1: slow. gemm_fp32 of spin is 12 % below its 3 peers.", one line.
std::string ProbeSentence(const v1::NodeProbe& run);
// The sentence, the machine and a table of figures.
std::string ProbeText(const v1::NodeProbe& run);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROBE_PROBE_VIEW_H_
