// The hardware of the node: runs its sources, and says once a second what of it is news.
//
// Owned by Agent. Model: source_runner samples, reading_board decides what leaves the node, this
// puts both into a message, with the state of all sources whenever one of them changed and with
// every whole telling. A source that is missing, fails or hangs is logged once for each change.
//
// Thread-safety: Look and Traced on the poll loop. Ownership: owns runner and board.
// Errors: none of its own; those of sources are told as their states.
// Cost: O(readings) a second; the sources have threads of their own.
#ifndef FATHOM_DAEMON_AGENT_SESSION_HARDWARE_WATCH_H_
#define FATHOM_DAEMON_AGENT_SESSION_HARDWARE_WATCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agent/source/hardware/reading_board.h"
#include "daemon/agent/source/hardware/source_runner.h"
#include "daemon/agent/source/process/proc_file.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/hardware.pb.h"

namespace fathom::agent {

class HardwareWatch {
 public:
  struct Parts {
    KernelRoots roots;
    std::function<MonoNs()> now;
    std::string nvml;  // file of the library
    RunnerPace pace = {};
  };

  explicit HardwareWatch(const Parts& parts);

  // The processes that are traced now: whoever else is on a GPU is somebody else.
  void Traced(std::set<std::uint32_t> processes);
  // What others have read of processes, for the next Look.
  void Add(std::vector<Reading> readings) { board_.Put(std::move(readings)); }
  // Nothing: there is no news. `lost`: of messages like the one it goes into, so far; once more
  // are, all is told again.
  std::optional<v1::NodeHardware> Look(MonoNs now, WallNs now_wall, std::uint64_t lost);
  void SetPace(Nanos pace) { runner_->SetPace(pace); }
  std::vector<SourceState> States() const { return runner_->States(); }
  bool AllTried() const { return runner_->AllTried(); }

 private:
  // Outlives a source whose thread was left behind.
  struct Shared {
    service::Mutex mutex;
    std::set<std::uint32_t> traced ABSL_GUARDED_BY(mutex);
  };

  // True if one is not as it was told.
  bool NoteStates(const std::vector<SourceState>& states);

  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::unique_ptr<SourceRunner> runner_;
  ReadingBoard board_;
  std::vector<SourceState> told_;
  std::uint64_t lost_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_HARDWARE_WATCH_H_
