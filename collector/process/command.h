// Runs a short command and keeps what it wrote; injected so that tests answer in its place.
//
// Used by the Slurm back-end of fathom-cordon and by `fathom recover`. No shell: argv goes to the
// program as it is. stdin is empty; what runs over the limit is killed with its group. A child that
// goes on after the command must not keep its stdout and stderr: they are read until they end.
// Thread-safety: RunCommand is thread-safe. Errors: NotFound (cannot be started), DeadlineExceeded
// (killed; what it did is not known). Bounds: 16 MiB of output.
#ifndef FATHOM_COLLECTOR_PROCESS_COMMAND_H_
#define FATHOM_COLLECTOR_PROCESS_COMMAND_H_

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

#include "proto/types/time_units.h"

namespace fathom::collector {

struct CommandResult {
  int exit_code = 0;   // 128 + S for a signal
  std::string output;  // stdout
  std::string errors;  // stderr
};

using CommandRunner =
    std::function<absl::StatusOr<CommandResult>(const std::vector<std::string>& argv, Nanos limit)>;

absl::StatusOr<CommandResult> RunCommand(const std::vector<std::string>& argv, Nanos limit);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_PROCESS_COMMAND_H_
