#include "collector/notify/notifier.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fathom::collector {

Notifier::Notifier(const std::vector<Receiver>& receivers, HttpTransport& transport,
                   const Clock& clock, Outbox* outbox, Routes routes)
    : transport_(transport), clock_(clock), outbox_(outbox) {
  Use(receivers, std::move(routes));
  if (outbox_ == nullptr) return;
  const service::MutexLock lock(mutex_);
  for (const Outbox::Entry& entry : outbox_->All()) TakeUp(entry);
}

void Notifier::TakeUp(const Outbox::Entry& entry) {
  const auto at = std::find_if(receivers_.begin(), receivers_.end(), [&](const auto& each) {
    return NameOf(each.second) == entry.receiver;
  });
  if (at == receivers_.end()) return outbox_->Forget(entry.receiver, entry.notice.key);
  const Key key{at->first, entry.notice.key};
  kept_[key] = entry.waits;
  if (!entry.notice.thread.empty()) threads_[key] = entry.notice.thread;
  const bool refresh = entry.notice.active() && at->second.shape == Shape::kAlertmanager;
  if (entry.notice.active() && !entry.notice.matter.empty()) told_[key] = entry.notice.matter;
  if (!entry.waits && !entry.notice.active()) return Forget(key);
  if (!entry.waits && !refresh) return;
  // What quiet hours held back is held back again; nobody has heard of what only waited.
  const Nanos quiet = entry.waits ? routes_.QuietFor(entry.notice, clock_.Wall()) : Nanos();
  waiting_[key] = {entry.notice, clock_.Mono() + quiet, kRetry, ++version_, quiet.count > 0};
  wake_.NotifyAll();
}

void Notifier::Keep(const Key& key, const Notice& notice, bool waits) {
  if (outbox_ == nullptr) return;
  // Alertmanager hears of every change of an episode; what is kept is that it is to hear of it.
  const auto kept = kept_.find(key);
  const bool refreshed = receivers_.at(key.first).shape == Shape::kAlertmanager && notice.active();
  if (refreshed && kept != kept_.end() && kept->second == waits) return;
  kept_[key] = waits;
  Notice written = notice;
  if (const auto thread = threads_.find(key); thread != threads_.end()) {
    written.thread = thread->second;
  }
  outbox_->Keep({NameOf(receivers_.at(key.first)), written, waits});
}

void Notifier::Forget(const Key& key) {
  if (kept_.erase(key) != 0) outbox_->Forget(NameOf(receivers_.at(key.first)), key.second);
}

Notifier::~Notifier() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void Notifier::Use(const std::vector<Receiver>& receivers, Routes routes) {
  const service::MutexLock lock(mutex_);
  routes_ = std::move(routes);
  std::map<Id, Receiver> now;
  for (const Receiver& each : receivers) {
    const auto same = std::find_if(receivers_.begin(), receivers_.end(),
                                   [&](const auto& known) { return known.second == each; });
    now.emplace(same == receivers_.end() ? next_id_++ : same->first, each);
  }
  receivers_ = std::move(now);
  const auto gone = [&](const auto& each) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !receivers_.contains(each.first.first);
  };
  std::erase_if(waiting_, gone);
  std::erase_if(told_, gone);
  std::erase_if(kept_, gone);
  std::erase_if(threads_, gone);
  if (!receivers_.empty() && !thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

void Notifier::Tell(Notice notice) {
  const service::MutexLock lock(mutex_);
  routes_.Mark(notice);
  for (const auto& [id, receiver] : receivers_) TellOne({id, notice.key}, receiver, notice);
  wake_.NotifyAll();
}

void Notifier::Adopt(const std::vector<Outbox::Entry>& entries) {
  const service::MutexLock lock(mutex_);
  for (const Outbox::Entry& entry : entries) TakeUp(entry);
}

void Notifier::Drop(const std::set<std::string>& keys) {
  const service::MutexLock lock(mutex_);
  const auto dropped = [&](const auto& each) { return keys.contains(each.first.second); };
  std::erase_if(waiting_, dropped);
  std::erase_if(told_, dropped);
  std::erase_if(kept_, dropped);
  std::erase_if(threads_, dropped);
}

void Notifier::TellOne(const Key& key, const Receiver& receiver, const Notice& notice) {
  const auto waiting = waiting_.find(key);
  const bool known = waiting != waiting_.end();
  const bool told = told_.contains(key);
  if (!known && !told && !routes_.Reaches(receiver.name, notice)) return;
  if (!known && waiting_.size() >= kMaxEpisodes * receivers_.size()) {
    ++counters_.dropped;
    return;
  }
  if (Passed(key, notice)) return;
  if (Heard(key, receiver.shape, notice)) {
    if (known) waiting->second.notice = notice;  // it failed so far: the newest state goes out
    if (known) Keep(key, notice, true);
    return;
  }
  Nanos quiet = routes_.QuietFor(notice, clock_.Wall());
  const bool held = quiet.count > 0 && (known ? waiting->second.held : !told);
  // An alert that stands ends by itself unless it is sent anew.
  if (!held && receiver.shape == Shape::kAlertmanager) quiet = Nanos();
  waiting_[key] = {notice, clock_.Mono() + quiet, kRetry, ++version_, held};
  Keep(key, notice, true);
}

bool Notifier::Passed(const Key& key, const Notice& notice) {
  const auto waiting = waiting_.find(key);
  if (notice.active() || waiting == waiting_.end() || !waiting->second.held) return false;
  waiting_.erase(waiting);
  told_.erase(key);
  Forget(key);
  ++counters_.quiet;
  return true;
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
    at->second.held = false;
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

void Notifier::NoteThread(const Key& key, const Notice& notice, const std::string& thread) {
  if (!receivers_.contains(key.first)) return;
  if (!notice.active()) {
    threads_.erase(key);
  } else if (!thread.empty()) {
    threads_[key] = thread;
  }
}

void Notifier::Run() {
  service::MutexLock lock(mutex_);
  while (!stop_) {
    Key key;
    Waiting waiting;
    MonoNs until;
    const MonoNs now = clock_.Mono();
    if (!Next(now, key, waiting, until)) {
      const Nanos left = std::min(until - now, kRefresh);
      wake_.WaitFor(mutex_,
                    std::chrono::nanoseconds(std::max<std::int64_t>(left.count, 1'000'000)));
      continue;
    }
    const Receiver receiver = receivers_.at(key.first);
    const auto known = threads_.find(key);
    std::string thread = known == threads_.end() ? "" : known->second;
    lock.Unlock();
    const absl::Status status =
        Deliver(receiver, waiting.notice, clock_.Wall(), transport_, &thread);
    lock.Lock();
    NoteThread(key, waiting.notice, thread);
    Settle(key, waiting, status, clock_.Mono());
  }
}

}  // namespace fathom::collector
