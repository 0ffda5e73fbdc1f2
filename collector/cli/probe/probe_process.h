// Runs fathom-probe on this node and reads what it prints.
//
// Used by `fathom probe`. Model: it runs beside us in a process group of its own and dies with us;
// SIGINT or SIGTERM stop it, and so does the patience, which is far beyond its own bounds.
// Thread-safety: single-threaded. Errors: kNotFound (it is not installed), kCancelled (a signal),
// kDeadlineExceeded, kInternal with what it said on stderr, kInvalidArgument for lines that are
// none.
#ifndef FATHOM_COLLECTOR_CLI_PROBE_PROBE_PROCESS_H_
#define FATHOM_COLLECTOR_CLI_PROBE_PROBE_PROCESS_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fathom/v1/probe.pb.h"

namespace fathom::cli {

// `argv`: the program and its arguments.
absl::StatusOr<v1::NodeProbe> RunProbeProcess(const std::vector<std::string>& argv,
                                              std::chrono::milliseconds patience);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROBE_PROBE_PROCESS_H_
