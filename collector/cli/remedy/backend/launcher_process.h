// The torchrun of a job on this node: found, told, stopped, started.
//
// Used by `fathom recover node`, which the torchrun back-end runs on the nodes. Model: the launcher
// of a rank is its nearest ancestor that runs torchrun; one that fathom started is told by its tag,
// FATHOM_RECOVERY in its environment, which its children inherit, and is the topmost that has it. A
// process is known by its pid and the tick at which it began.
//
// Thread-safety: reads /proc. Errors: NotFound, DeadlineExceeded (it did not end),
// FailedPrecondition (it could not be started). Cost: one walk over /proc to find a tag.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_LAUNCHER_PROCESS_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_LAUNCHER_PROCESS_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

inline constexpr const char* kRecoveryTag = "FATHOM_RECOVERY";

struct Launcher {
  std::int64_t pid = 0;
  std::uint64_t start = 0;  // ticks since boot
};

absl::StatusOr<Launcher> LauncherOf(const std::filesystem::path& proc, std::int64_t rank_pid);
absl::StatusOr<Launcher> LauncherTagged(const std::filesystem::path& proc, const std::string& tag);
bool StillThere(const std::filesystem::path& proc, const Launcher& launcher);

// pid, start, job (FATHOM_JOB), nnodes, max_restarts, rdzv_backend, rdzv_endpoint as its command
// line or its PET_ variables say; shares_store (see docs/operations/recover.md), hosts_rendezvous
// and reached_rendezvous by its sockets.
Json TellLauncher(const std::filesystem::path& proc, const Launcher& launcher);

// SIGTERM, and after `grace` SIGKILL to it and to all that descended from it; waits until none is
// left.
absl::Status StopLauncher(const std::filesystem::path& proc, const Launcher& launcher,
                          std::chrono::milliseconds grace);
// In a session of its own, stdin empty, stdout and stderr appended to `log`. One that carries the
// tag already is not started again.
absl::StatusOr<Launcher> StartLauncher(const std::filesystem::path& proc, const std::string& tag,
                                       const std::string& log,
                                       const std::vector<std::string>& argv);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_LAUNCHER_PROCESS_H_
