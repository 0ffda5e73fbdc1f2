// Runs a small program to its end and keeps what it wrote.
//
// Used by the checks of `doctor` and by the support bundle. Model: stdin is empty; what runs longer
// than the deadline is killed. Output beyond 64 KiB is dropped.
// Thread-safety: single-threaded. Errors: kNotFound (cannot be started), kDeadlineExceeded.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_CAPTURED_PROCESS_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_CAPTURED_PROCESS_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/cli/process/trace_environment.h"

namespace fathom::cli {

struct Captured {
  int exit_code = 0;  // 128 + S for a signal
  std::string out;
  std::string err;
};

absl::StatusOr<Captured> Capture(const std::vector<std::string>& argv,
                                 const Environment& environment, std::chrono::milliseconds timeout);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_CAPTURED_PROCESS_H_
