#include "collector/notify/notifier.h"

#include <algorithm>
#include <chrono>

namespace fathom::collector {

Notifier::Notifier(std::vector<Receiver> receivers, HttpTransport& transport, const Clock& clock)
    : receivers_(std::move(receivers)), transport_(transport), clock_(clock) {
  if (!receivers_.empty()) thread_ = std::thread([this] { Run(); });
}

Notifier::~Notifier() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Notifier::Tell(const Notice& notice) {
  if (receivers_.empty()) return;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < receivers_.size(); ++i) {
    const Key key{i, notice.key};
    const bool known = waiting_.contains(key);
    if (!known && waiting_.size() >= kMaxEpisodes * receivers_.size()) {
      ++counters_.dropped;
      continue;
    }
    waiting_[key] = {notice, clock_.Mono(), kRetry, ++version_};
  }
  wake_.notify_all();
}

bool Notifier::Next(MonoNs now, Key& key, Waiting& waiting, MonoNs& until) {
  const auto first = std::min_element(waiting_.begin(), waiting_.end(),
                                      [](auto& a, auto& b) { return a.second.due < b.second.due; });
  if (first == waiting_.end()) return until = now + kRefresh, false;
  until = first->second.due;
  if (until > now) return false;
  key = first->first;
  waiting = first->second;
  return true;
}

void Notifier::Settle(const Key& key, const Waiting& tried, const absl::Status& status,
                      MonoNs now) {
  const auto at = waiting_.find(key);
  // A newer state arrived meanwhile: that one is due at once.
  if (at == waiting_.end() || at->second.version != tried.version) return;
  if (status.ok()) {
    ++counters_.sent;
    const bool refresh =
        tried.notice.active() && receivers_[key.first].shape == Shape::kAlertmanager;
    if (!refresh) {
      waiting_.erase(at);
      return;
    }
    at->second.due = now + kRefresh;
    at->second.retry = kRetry;
  } else if (absl::IsInvalidArgument(status)) {
    ++counters_.dropped;
    waiting_.erase(at);
  } else {
    ++counters_.failed;
    at->second.due = now + at->second.retry;
    at->second.retry = std::min(at->second.retry * 2, kMaxRetry);
  }
}

void Notifier::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    Key key;
    Waiting waiting;
    MonoNs until;
    const MonoNs now = clock_.Mono();
    if (!Next(now, key, waiting, until)) {
      const Nanos left = std::min(until - now, kRefresh);
      wake_.wait_for(lock, std::chrono::nanoseconds(std::max<std::int64_t>(left.count, 1'000'000)));
      continue;
    }
    lock.unlock();
    const absl::Status status =
        Deliver(receivers_[key.first], waiting.notice, clock_.Wall(), transport_);
    lock.lock();
    Settle(key, waiting, status, clock_.Mono());
  }
}

}  // namespace fathom::collector
