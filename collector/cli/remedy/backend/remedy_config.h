// Which back-end a recovery uses, read from a file, and that back-end made.
//
//   backend: torchrun                          backend: slurm          backend: command
//   on_node: [ssh, -oBatchMode=yes, "{node}"]  scontrol: [scontrol]    isolate: [./a, "{sick}"]
//   start: [/scratch/train/start.sh]           slurm_job: "1234"       restart: [./b, "{spare}"]
//
// Used by `fathom recover run` and `undo`; docs/operations/recover.md has every key. A key that is
// none is an error, so that a slip does not go unseen.
//
// Thread-safety: thread-safe. Errors: NotFound, InvalidArgument with the key. Cost: reads one file.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_REMEDY_CONFIG_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_REMEDY_CONFIG_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "collector/cli/remedy/backend/waiting.h"
#include "collector/cli/remedy/remedy_backend.h"
#include "collector/process/command.h"

namespace fathom::cli {

struct BackendParts {
  std::string fathom;  // this program's path, which the nodes are taken to have as well
  collector::CommandRunner run;
  Waiting waiting;
};

absl::StatusOr<std::unique_ptr<RemedyBackend>> ReadRemedyConfig(const std::string& file,
                                                                const BackendParts& parts);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_REMEDY_CONFIG_H_
