// The checkpoints of a job in a folder: which there are, how old, and whether they are whole.
//
// Used by nodes/recover_command. Model: a checkpoint is a file or folder directly in `folder` whose
// name tells a step: the number after the last "step" or "iter" (llama-3.1-8b-step-1200,
// epoch=3-step=1200.ckpt, iter_0001200.pt), else the one that the name ends in (checkpoint-1200).
// It is whole when nothing in it is empty or carries a name of something half written (.tmp,
// .part), a folder of torch.distributed.checkpoint has its .metadata, and a file of torch.save ends
// as a zip file does. Of such a file the first four bytes and the last 64 KiB are read: a bit that
// flipped between is not found.
//
// Units: wall ns. Thread-safety: thread-safe. Errors: NotFound for a folder that cannot be read.
// Cost: a stat for each file of the newest kMostLooked checkpoints.
#ifndef FATHOM_COLLECTOR_CLI_RECOVER_CHECKPOINTS_H_
#define FATHOM_COLLECTOR_CLI_RECOVER_CHECKPOINTS_H_

#include <absl/status/statusor.h>

#include <filesystem>
#include <vector>

#include "collector/recovery/checkpoint.h"

namespace fathom::cli {

using collector::Checkpoint;

inline constexpr std::size_t kMostLooked = 32;

// The newest first.
absl::StatusOr<std::vector<Checkpoint>> FindCheckpoints(const std::filesystem::path& folder);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RECOVER_CHECKPOINTS_H_
