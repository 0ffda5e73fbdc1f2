// Runs captures of stacks beside the poll loop: one at a time, all its processes at once.
//
// Owned by session/orders. Model: Begin() refuses while one is under way; each process has a thread
// for as long as it is recorded; Take() hands over, once each, what has come in.
//
// Thread-safety: Begin, Take and busy on the poll loop. Ownership: owns the threads; the destructor
// ends the tools. Errors: go into the result, in words. Cost: see stack_recording.h.
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_CAPTURE_RUNNER_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_CAPTURE_RUNNER_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/agent/capture/stack_recording.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/capture.pb.h"

namespace fathom::agent {

class CaptureRunner {
 public:
  static constexpr std::size_t kMostProcesses = 64;

  // What records one process; `stop` asks it to give up.
  using Tool = std::function<absl::StatusOr<v1::RankCapture>(const RecordingPlan& plan,
                                                             const std::atomic<bool>& stop)>;
  struct Task {
    std::uint32_t rank = 0;
    RecordingPlan plan;
  };

  explicit CaptureRunner(Tool tool) : tool_(std::move(tool)) {}
  CaptureRunner(const CaptureRunner&) = delete;
  CaptureRunner& operator=(const CaptureRunner&) = delete;
  ~CaptureRunner();

  // Requires: not busy; at most kMostProcesses tasks.
  void Begin(std::vector<Task> tasks);
  // Until all that was begun is taken.
  bool busy() const;
  std::vector<v1::RankCapture> Take();

 private:
  void Run(const Task& task);
  void Join();

  const Tool tool_;
  std::atomic<bool> stop_{false};
  mutable service::Mutex mutex_;
  std::vector<v1::RankCapture> done_ ABSL_GUARDED_BY(mutex_);
  std::size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_CAPTURE_RUNNER_H_
