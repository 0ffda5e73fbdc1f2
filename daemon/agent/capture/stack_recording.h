// Samples the stacks of one process, for some seconds or for some iterations, and reduces them to
// patterns.
//
// Used by capture_runner, on a thread of its own. py-spy reads the process's memory from outside
// (`record --nonblocking`) and never stops it, but where frames of native code are wanted: then it
// halts the process for each sample. Meanwhile the agent looks at what the thread does
// (thread_doing.h). A process that a debugger or another tracer holds is left alone.
//
// Units: seconds of real time. Thread-safety: thread-safe.
// Errors: FailedPrecondition: watched by another; DeadlineExceeded: given up before it began;
// NotFound: no py-spy on the agent's PATH, or the process is gone; Internal with what py-spy said
// and which setting would allow it. Cost: py-spy is a process that takes some 3 % of a core at 100
// samples a second.
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_STACK_RECORDING_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_STACK_RECORDING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/agent/source/process/proc_file.h"
#include "fathom/v1/capture.pb.h"

namespace fathom::agent {

// When a recording is to begin and end, where that hangs on what the process does. Set by
// session/capture_cues on the poll loop, read by the thread that records.
struct RecordingCue {
  enum State { kWait, kRecord, kEnough, kGivenUp };
  std::atomic<State> state{kWait};
};

struct RecordingPlan {
  std::string program = "py-spy";
  std::uint32_t pid = 0;
  std::uint32_t thread = 0;  // whose stacks are wanted
  double seconds = 4;        // rounded up to whole ones
  std::uint32_t rate = 100;  // samples a second
  bool native = false;       // frames of native code too
  bool workers = false;      // the processes that it started as well
  // Null: begins at once and lasts `seconds`. Else as it says, kMaxRecordingSeconds at most.
  std::shared_ptr<const RecordingCue> cue{};
};

inline constexpr double kMaxRecordingSeconds = 30;
inline constexpr std::uint32_t kMaxRecordingRate = 200;

// All of RankCapture but its rank. Gives up when `stop` becomes true.
absl::StatusOr<v1::RankCapture> RecordStacks(const RecordingPlan& plan, const KernelRoots& roots,
                                             const std::atomic<bool>& stop);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_STACK_RECORDING_H_
