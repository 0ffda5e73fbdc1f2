// The environment a traced command gets: the user's own, plus what the tracer reads, nothing else.
//
// LD_PRELOAD and PYTHONPATH are prepended to, FATHOM_… set, NCCL_PROFILER_PLUGIN too where the user
// has none; every other variable is passed on byte
// by byte, also malformed ones.
// Thread-safety: pure functions. Errors: kInvalidArgument when a path cannot be written into the
// list it belongs to (LD_PRELOAD knows no quoting: no space, no colon).
#ifndef FATHOM_COLLECTOR_CLI_PROCESS_TRACE_ENVIRONMENT_H_
#define FATHOM_COLLECTOR_CLI_PROCESS_TRACE_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fathom::cli {

using Environment = std::vector<std::string>;  // "NAME=value"

struct TraceSettings {
  std::string tracer;        // what LD_PRELOAD is to name: Installation::preload
  std::string site;          // folder of the Python hook; may be empty
  std::string shm_dir;       // FATHOM_SHM_DIR
  std::string job;           // FATHOM_JOB
  std::string trace;         // FATHOM_TRACE; empty: not set
  std::string profile = {};  // FATHOM_PROFILE; likewise
};

absl::StatusOr<Environment> TracedEnvironment(const Environment& user,
                                              const TraceSettings& settings);

// The user's without what would trace agent and collector themselves.
Environment CompanionEnvironment(const Environment& user);

// This process's.
Environment CurrentEnvironment();

// The job's name when none is given: the script's or program's, as far as it is a name:
// "train" of {torchrun, --nproc-per-node, 4, src/train.py}. Letters, digits, '.', '_', '-'; ≤ 63.
std::string JobNameOf(const std::vector<std::string>& command);
std::string CleanJobName(std::string_view name);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROCESS_TRACE_ENVIRONMENT_H_
