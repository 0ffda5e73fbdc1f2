#include "daemon/agent/source/stack/stack_sampler.h"

#include <algorithm>
#include <set>
#include <utility>

#include "daemon/agent/source/stack/stack_text.h"

namespace fathom::agent {
StackSampler::StackSampler(Tool tool) : tool_(std::move(tool)), thread_([this] { Run(); }) {}

StackSampler::~StackSampler() {
  stop_.store(true);
  {
    const service::MutexLock lock(mutex_);
    wake_.NotifyAll();
  }
  thread_.join();
}

void StackSampler::Want(const std::string& ring, std::uint32_t pid, SamplePlan plan,
                        std::int64_t now_ns) {
  const service::MutexLock lock(mutex_);
  Kept& kept = kept_[ring];
  if (kept.view.given_up) return;
  const std::int64_t every = kept.asked < plan.most ? kEveryNs : plan.then_every_ns;
  const bool soon = kept.asked > 0 && now_ns - kept.asked_ns < every;
  if (soon || every == 0) return;
  kept.asked_ns = now_ns;
  ++kept.asked;
  queue_.push_back({ring, pid});
  wake_.NotifyOne();
}

std::optional<StackView> StackSampler::Latest(const std::string& ring) const {
  const service::MutexLock lock(mutex_);
  const auto at = kept_.find(ring);
  if (at == kept_.end()) return std::nullopt;
  if (at->second.view.samples == 0 && at->second.view.error.empty()) return std::nullopt;
  return at->second.view;
}

void StackSampler::Forget(const std::string& ring) {
  const service::MutexLock lock(mutex_);
  kept_.erase(ring);
}

void StackSampler::Run() {
  service::MutexLock lock(mutex_);
  while (!stop_.load()) {
    if (queue_.empty()) {
      wake_.Wait(mutex_);
      continue;
    }
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.Unlock();
    absl::StatusOr<StackReading> reading = tool_(job.pid, stop_);
    lock.Lock();
    Keep(job, std::move(reading));
  }
}

void StackSampler::Keep(const Job& job, absl::StatusOr<StackReading> reading) {
  const auto at = kept_.find(job.ring);
  if (at == kept_.end()) return;  // the silence ended meanwhile
  StackView& view = at->second.view;
  if (!reading.ok()) {
    view.error = CleanFrame(std::string(reading.status().message()));
    return;
  }
  if (reading->frames.empty()) return;
  std::deque<std::string>& innermost = at->second.innermost;
  const std::string function = reading->source == "native" ? LibraryFunction(reading->frames)
                                                           : FunctionOf(reading->frames.front());
  if (!function.empty()) innermost.push_back(function);
  if (innermost.size() > kRecent) innermost.pop_front();
  view.longest_pause = std::max(view.longest_pause, reading->pause);
  view.given_up = view.longest_pause > kMostPause;
  view.newest = *std::move(reading);
  view.error.clear();
  ++view.samples;
  const std::set<std::string> distinct(innermost.begin(), innermost.end());
  view.functions = static_cast<std::uint32_t>(distinct.size());
}

}  // namespace fathom::agent
