#include "daemon/agent/capture/capture_runner.h"

#include <utility>

#include "daemon/agent/source/stack/stack_text.h"

namespace fathom::agent {

CaptureRunner::~CaptureRunner() {
  stop_.store(true);
  Join();
}

void CaptureRunner::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool CaptureRunner::busy() const {
  const service::MutexLock lock(mutex_);
  return running_ > 0 || !done_.empty();
}

void CaptureRunner::Begin(std::vector<Task> tasks) {
  Join();
  {
    const service::MutexLock lock(mutex_);
    running_ = tasks.size();
  }
  for (Task& task : tasks) {
    threads_.emplace_back([this, own = std::move(task)] { Run(own); });
  }
}

void CaptureRunner::Run(const Task& task) {
  absl::StatusOr<v1::RankCapture> recorded = tool_(task.plan, stop_);
  v1::RankCapture capture;
  if (recorded.ok()) capture = *std::move(recorded);
  capture.set_rank(task.rank);
  capture.set_state(recorded.ok() ? "done" : "refused");
  if (!recorded.ok()) {
    capture.set_reason(CleanFrame(std::string(recorded.status().message())));
  }
  const service::MutexLock lock(mutex_);
  done_.push_back(std::move(capture));
  --running_;
}

std::vector<v1::RankCapture> CaptureRunner::Take() {
  const service::MutexLock lock(mutex_);
  return std::exchange(done_, {});
}

}  // namespace fathom::agent
