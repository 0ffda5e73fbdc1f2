#include "collector/notify/notifier.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fathom::collector {

Notifier::Notifier(const std::vector<Receiver>& receivers, HttpTransport& transport,
                   const Clock& clock, Outbox* outbox)
    : transport_(transport), clock_(clock), outbox_(outbox) {
  Use(receivers);
  if (outbox_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  for (const Outbox::Entry& entry : outbox_->All()) TakeUp(entry);
}

void Notifier::TakeUp(const Outbox::Entry& entry) {
  const auto at = std::find_if(receivers_.begin(), receivers_.end(), [&](const auto& each) {
    return NameOf(each.second) == entry.receiver;
  });
  if (at == receivers_.end()) return outbox_->Forget(entry.receiver, entry.notice.key);
  const Key key{at->first, entry.notice.key};
  kept_[key] = entry.waits;
  const bool refresh = entry.notice.active() && at->second.shape == Shape::kAlertmanager;
  if (entry.notice.active() && !entry.notice.matter.empty()) told_[key] = entry.notice.matter;
  if (!entry.waits && !entry.notice.active()) return Forget(key);
  if (!entry.waits && !refresh) return;
  waiting_[key] = {entry.notice, clock_.Mono(), kRetry, ++version_};
  wake_.notify_all();
}

void Notifier::Keep(const Key& key, const Notice& notice, bool waits) {
  if (outbox_ == nullptr) return;
  // Alertmanager hears of every change of an episode; what is kept is that it is to hear of it.
  const auto kept = kept_.find(key);
  const bool refreshed = receivers_.at(key.first).shape == Shape::kAlertmanager && notice.active();
  if (refreshed && kept != kept_.end() && kept->second == waits) return;
  kept_[key] = waits;
  outbox_->Keep({NameOf(receivers_.at(key.first)), notice, waits});
}

void Notifier::Forget(const Key& key) {
  if (kept_.erase(key) != 0) outbox_->Forget(NameOf(receivers_.at(key.first)), key.second);
}

Notifier::~Notifier() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Notifier::Use(const std::vector<Receiver>& receivers) {
  const std::lock_guard lock(mutex_);
  std::map<Id, Receiver> now;
  for (const Receiver& each : receivers) {
    const auto same = std::find_if(receivers_.begin(), receivers_.end(),
                                   [&](const auto& known) { return known.second == each; });
    now.emplace(same == receivers_.end() ? next_id_++ : same->first, each);
  }
  receivers_ = std::move(now);
  const auto gone = [&](const auto& each) { return !receivers_.contains(each.first.first); };
  std::erase_if(waiting_, gone);
  std::erase_if(told_, gone);
  std::erase_if(kept_, gone);
  if (!receivers_.empty() && !thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

void Notifier::Tell(const Notice& notice) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, receiver] : receivers_) {
    const Key key{id, notice.key};
    const bool known = waiting_.contains(key);
    if (!known && waiting_.size() >= kMaxEpisodes * receivers_.size()) {
      ++counters_.dropped;
      continue;
    }
    if (Heard(key, receiver.shape, notice)) {
      if (known) waiting_[key].notice = notice;  // it failed so far: the newest state goes out
      if (known) Keep(key, notice, true);
      continue;
    }
    waiting_[key] = {notice, clock_.Mono(), kRetry, ++version_};
    Keep(key, notice, true);
  }
  wake_.notify_all();
}

bool Notifier::Heard(const Key& key, Shape shape, const Notice& notice) {
  if (shape == Shape::kAlertmanager || notice.matter.empty()) return false;
  if (!notice.active()) return told_.erase(key), false;
  return std::exchange(told_[key], notice.matter) == notice.matter;
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
  if (status.ok() || absl::IsInvalidArgument(status)) {
    tried.notice.active() ? Keep(key, tried.notice, false) : Forget(key);
  }
  if (status.ok()) {
    ++counters_.sent;
    const bool refresh =
        tried.notice.active() && receivers_.at(key.first).shape == Shape::kAlertmanager;
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
    const Receiver receiver = receivers_.at(key.first);
    lock.unlock();
    const absl::Status status = Deliver(receiver, waiting.notice, clock_.Wall(), transport_);
    lock.lock();
    Settle(key, waiting, status, clock_.Mono());
  }
}

}  // namespace fathom::collector
