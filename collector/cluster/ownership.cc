#include "collector/cluster/ownership.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>

namespace fathom::collector {

Ownership::Ownership(Parts parts) : parts_(std::move(parts)) {
  thread_ = std::thread([this] { Run(); });
}

Ownership::~Ownership() { Stop(); }

void Ownership::Stop() {
  {
    const service::MutexLock lock(mutex_);
    closed_ = stop_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Ownership::Close() {
  const service::MutexLock lock(mutex_);
  closed_ = true;
}

void Ownership::Heard(const std::string& job) {
  const MonoNs now = parts_.clock.Mono();
  const service::MutexLock lock(mutex_);
  const auto [at, first] = heard_.try_emplace(job, now);
  at->second = now;
  if (first) wake_.NotifyAll();
}

void Ownership::Ended(const std::string& job) {
  const service::MutexLock lock(mutex_);
  const auto at = owned_.find(job);
  if (at != owned_.end()) at->second.ended = true;
}

bool Ownership::Owns(const std::string& job) const {
  const MonoNs now = parts_.clock.Mono();
  const service::MutexLock lock(mutex_);
  const auto at = owned_.find(job);
  return at != owned_.end() && at->second.follower->caught_up() &&
         now - at->second.renewed < parts_.leases.term() - kMargin;
}

std::optional<CheckpointKeeper::Place> Ownership::PlaceOf(const std::string& job) const {
  const service::MutexLock lock(mutex_);
  const auto at = owned_.find(job);
  if (at == owned_.end() || at->second.ended || !at->second.follower->caught_up()) {
    return std::nullopt;
  }
  return CheckpointKeeper::Place{at->second.token, at->second.follower->newest()};
}

std::vector<std::string> Ownership::Mine() const {
  const service::MutexLock lock(mutex_);
  std::vector<std::string> jobs;
  for (const auto& [job, owned] : owned_) jobs.push_back(job);
  return jobs;
}

void Ownership::SetFailing(const absl::Status& status) {
  const std::string why(status.message());
  bool changed = false;
  {
    const service::MutexLock lock(mutex_);
    changed = failing_.empty() != why.empty();
    failing_ = why;
  }
  if (!changed) return;
  parts_.log(!why.empty(), why.empty() ? "leases: they are kept again"
                                       : absl::StrCat("leases: ", why, "; they are tried again"));
}

void Ownership::Run() {
  MonoNs next = parts_.clock.Mono();
  while (true) {
    {
      service::MutexLock lock(mutex_);
      const Nanos left = next - parts_.clock.Mono();
      wake_.WaitFor(mutex_, std::chrono::nanoseconds(std::max<std::int64_t>(left.count, 0)));
      if (stop_) return;
    }
    Turn();
    next = parts_.clock.Mono() + Turns();
  }
}

void Ownership::Turn() {
  RenewAll();
  const absl::Status status = parts_.leases.Refresh();
  SetFailing(status);
  if (!status.ok()) return;
  const MonoNs now = parts_.clock.Mono();
  OpenHeard(now);
  Contest(now);
}

void Ownership::OpenHeard(MonoNs now) {
  std::vector<std::string> jobs;
  {
    const service::MutexLock lock(mutex_);
    std::erase_if(heard_, [&](const auto& each) { return now - each.second > kHeardFor; });
    for (const auto& [job, when] : heard_) {
      const auto mine = owned_.find(job);
      // Whoever owns it opens it again by itself.
      if (mine == owned_.end() || !mine->second.ended) jobs.push_back(job);
    }
  }
  const std::vector<std::string> open = parts_.leases.Jobs();
  for (const std::string& job : jobs) {
    const bool known = std::binary_search(open.begin(), open.end(), job);
    if (known || !parts_.leases.HolderOf(job).empty()) continue;
    if (auto status = parts_.leases.Open(job); !status.ok()) SetFailing(status);
  }
}

void Ownership::RenewAll() {
  absl::Status away;  // the store does not answer: asking it for each job would take too long
  for (const std::string& job : Mine()) {
    const MonoNs asked = parts_.clock.Mono();
    const absl::Status status = away.ok() ? parts_.leases.Renew(job) : away;
    if (absl::IsUnavailable(status)) away = status;
    std::string why;
    Owned* owned = nullptr;
    {
      const service::MutexLock lock(mutex_);
      owned = &owned_[job];  // only this thread removes it
      if (status.ok()) owned->renewed = asked;
      const Nanos ago = parts_.clock.Mono() - owned->renewed;
      if (absl::IsAborted(status)) {
        why = std::string(status.message());
      } else if (!status.ok() && ago > parts_.leases.term() - kMargin) {
        why = absl::StrCat("it could not be renewed for ", ago.Seconds(), " s");
      }
    }
    if (why.empty()) {
      LookAfter(job, *owned);
      continue;
    }
    ++parts_.counters.lost;
    Drop(job, why);
  }
}

void Ownership::LookAfter(const std::string& job, Owned& owned) {
  const std::uint64_t anew = owned.follower->TakeAnew();
  if (anew != 0) parts_.follow.bus.Forget(job, anew);
  if (owned.follower->caught_up() && !owned.told) {
    owned.told = true;
    const Nanos took = parts_.clock.Mono() - owned.begun;
    parts_.log(false, absl::StrCat("job ", job, ": ", owned.follower->replayed(),
                                   " records read, it is judged here; that took ", took.Seconds(),
                                   " s at most"));
  }
  CloseEnded(job, owned);
}

void Ownership::CloseEnded(const std::string& job, Owned& owned) {
  bool ended = false;
  {
    const service::MutexLock lock(mutex_);
    ended = owned.ended;
  }
  const auto state = parts_.follow.jobs.Find(job);
  if (state != nullptr && !state->ended()) {
    if (!owned.closed) return;
    // It has begun again.
    if (!parts_.leases.Open(job).ok()) return;
    owned.closed = false;
    const service::MutexLock lock(mutex_);
    owned.ended = false;
    return;
  }
  const bool empty = parts_.clock.Mono() - owned.begun > kEmptyFor;
  if (state == nullptr && (owned.closed || empty)) {
    parts_.leases.Forget(job);
    parts_.over(job);
    Drop(job, "");
    return;
  }
  if (!ended || owned.closed) return;
  parts_.follow.bus.Forget(job, owned.follower->newest() + 1);
  parts_.over(job);
  owned.closed = parts_.leases.Close(job).ok();
}

void Ownership::Contest(MonoNs now) {
  std::size_t mine = Mine().size();
  const std::vector<std::string> open = parts_.leases.Jobs();
  std::erase_if(free_since_, [&](const auto& each) {
    return !std::binary_search(open.begin(), open.end(), each.first);
  });
  for (const std::string& job : open) {
    {
      const service::MutexLock lock(mutex_);
      if (closed_) return;
      if (owned_.contains(job)) continue;
    }
    if (parts_.leases.IsMine(job)) {  // so nobody else's, whoever has fewer jobs
      Take(job, now);
      mine = Mine().size();
      continue;
    }
    if (!parts_.leases.HolderOf(job).empty()) {
      free_since_.erase(job);
      continue;
    }
    const MonoNs since = free_since_.try_emplace(job, now).first->second;
    const auto others = static_cast<double>(parts_.before_me(mine));
    if (now - since < Nanos::FromSeconds(kPatience * others * Turns().Seconds())) continue;
    Take(job, now);
    mine = Mine().size();
  }
}

void Ownership::Take(const std::string& job, MonoNs now) {
  const auto token = parts_.leases.Take(job);
  if (!token.ok()) return;
  absl::Status status = parts_.taken(job, *token);
  if (status.ok()) {
    auto follower = JobFollower::Start(parts_.follow, job, [this, job] { parts_.caught_up(job); });
    status = follower.status();
    if (follower.ok()) {
      ++parts_.counters.taken;
      const service::MutexLock lock(mutex_);
      Owned& owned = owned_[job];
      owned.token = *token;
      owned.renewed = owned.begun = now;
      owned.follower = *std::move(follower);
      free_since_.erase(job);
    }
  }
  if (status.ok()) {
    parts_.log(false, absl::StrCat("job ", job, ": owned from now on, token ", *token));
    return;
  }
  parts_.log(true, absl::StrCat("job ", job, ": not taken: ", std::string(status.message())));
  parts_.leases.Release(job);
}

bool Ownership::TakeOut(const std::string& job) {
  std::unique_ptr<JobFollower> follower;  // ends without the lock, which what it calls may take
  const service::MutexLock lock(mutex_);
  const auto at = owned_.find(job);
  if (at == owned_.end()) return false;
  follower = std::move(at->second.follower);
  owned_.erase(at);
  return true;
}

void Ownership::Drop(const std::string& job, const std::string& why) {
  if (!TakeOut(job)) return;
  if (!why.empty()) parts_.log(true, absl::StrCat("job ", job, ": owned no more: ", why));
  parts_.lost(job);
}

void Ownership::HandOver() {
  Stop();
  for (const std::string& job : Mine()) {
    TakeOut(job);
    parts_.leases.Release(job);
    ++parts_.counters.handed_over;
  }
}

Ownership::Figures Ownership::figures() const {
  const MonoNs now = parts_.clock.Mono();
  const service::MutexLock lock(mutex_);
  Figures figures;
  figures.jobs = owned_.size();
  figures.failing = failing_;
  for (const auto& [job, owned] : owned_) {
    figures.behind += owned.follower->behind();
    figures.renewed_ago_s = std::max(figures.renewed_ago_s, (now - owned.renewed).Seconds());
  }
  return figures;
}

}  // namespace fathom::collector
