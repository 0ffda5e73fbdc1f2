// Samples the stacks of one process for some seconds and reduces them to patterns.
//
// Used by capture_runner, on a thread of its own. py-spy reads the process's memory from outside
// (`record --nonblocking`) and never stops it; meanwhile the agent looks at what the thread does
// (thread_doing.h). A process that a debugger or another tracer holds is left alone.
//
// Units: seconds of real time. Thread-safety: thread-safe.
// Errors: FailedPrecondition: watched by another; NotFound: no py-spy on the agent's PATH, or the
// process is gone; Internal with what py-spy said and which setting would allow it.
// Cost: py-spy is a process that takes some 3 % of a core at 100 samples a second.
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_STACK_RECORDING_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_STACK_RECORDING_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/agent/source/process/proc_file.h"
#include "fathom/v1/capture.pb.h"

namespace fathom::agent {

struct RecordingPlan {
  std::string program = "py-spy";
  std::uint32_t pid = 0;
  std::uint32_t thread = 0;  // whose stacks are wanted
  double seconds = 4;        // rounded up to whole ones
  std::uint32_t rate = 100;  // samples a second
};

inline constexpr double kMaxRecordingSeconds = 30;
inline constexpr std::uint32_t kMaxRecordingRate = 200;

// All of RankCapture but its rank. Gives up when `stop` becomes true.
absl::StatusOr<v1::RankCapture> RecordStacks(const RecordingPlan& plan, const KernelRoots& roots,
                                             const std::atomic<bool>& stop);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_STACK_RECORDING_H_
