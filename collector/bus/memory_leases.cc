#include "collector/bus/memory_leases.h"

#include <absl/strings/str_cat.h>

namespace fathom::collector {
namespace {

absl::Status NotHeld(const std::string& job) {
  return absl::AbortedError(absl::StrCat("the lease of ", job, " is not held any more"));
}

}  // namespace

MemoryLeaseBook::Entry* MemoryLeases::Mine(const std::string& job) {
  const auto held = held_.find(job);
  const auto at = book_.jobs_.find(job);
  const bool mine = held != held_.end() && at != book_.jobs_.end() &&
                    at->second.token == held->second && !at->second.holder.empty();
  return mine ? &at->second : nullptr;
}

absl::StatusOr<Leases::Token> MemoryLeases::Take(const std::string& job) {
  const service::MutexLock lock(book_.mutex_);
  const auto at = book_.jobs_.find(job);
  if (at == book_.jobs_.end() || !at->second.open) {
    return absl::AbortedError(absl::StrCat("job ", job, " is not open"));
  }
  if (book_.Stands(at->second) && at->second.holder != holder_) {
    return absl::AlreadyExistsError(absl::StrCat(at->second.holder, " owns ", job));
  }
  at->second.holder = holder_;
  at->second.until = book_.clock_.Mono() + book_.term_;
  held_[job] = at->second.token = ++book_.newest_;
  return at->second.token;
}

absl::Status MemoryLeases::Renew(const std::string& job) {
  const service::MutexLock lock(book_.mutex_);
  MemoryLeaseBook::Entry* const entry = Mine(job);
  if (entry == nullptr) return NotHeld(job);
  entry->until = book_.clock_.Mono() + book_.term_;
  return absl::OkStatus();
}

void MemoryLeases::Release(const std::string& job) {
  const service::MutexLock lock(book_.mutex_);
  if (MemoryLeaseBook::Entry* const entry = Mine(job)) entry->holder.clear();
  held_.erase(job);
}

absl::Status MemoryLeases::Open(const std::string& job) {
  const service::MutexLock lock(book_.mutex_);
  book_.jobs_[job].open = true;
  return absl::OkStatus();
}

absl::Status MemoryLeases::Close(const std::string& job) {
  const service::MutexLock lock(book_.mutex_);
  MemoryLeaseBook::Entry* const entry = Mine(job);
  if (entry == nullptr) return NotHeld(job);
  entry->open = false;
  return absl::OkStatus();
}

void MemoryLeases::Forget(const std::string& job) {
  const service::MutexLock lock(book_.mutex_);
  book_.jobs_.erase(job);
  held_.erase(job);
}

std::string MemoryLeases::HolderOf(const std::string& job) const {
  const service::MutexLock lock(book_.mutex_);
  const auto at = book_.jobs_.find(job);
  return at != book_.jobs_.end() && book_.Stands(at->second) ? at->second.holder : std::string();
}

std::vector<std::string> MemoryLeases::Jobs() const {
  const service::MutexLock lock(book_.mutex_);
  std::vector<std::string> open;
  for (const auto& [job, entry] : book_.jobs_) {
    if (entry.open) open.push_back(job);
  }
  return open;
}

}  // namespace fathom::collector
