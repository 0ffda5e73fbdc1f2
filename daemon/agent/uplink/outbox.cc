#include "daemon/agent/uplink/outbox.h"

#include <algorithm>
#include <utility>

namespace fathom::agent {
namespace {

using Body = v1::AgentMessage::BodyCase;

constexpr std::uint64_t kRefillBytes = 1u << 20;
constexpr std::chrono::milliseconds kDiskTakes{20};

const char* NameOf(Body body) {
  switch (body) {
    case Body::kSummary:
      return "summary";
    case Body::kGone:
      return "gone";
    case Body::kHealth:
      return "health";
    case Body::kCounters:
      return "counters";
    case Body::kRows:
      return "rows";
    case Body::kOps:
      return "ops";
    case Body::kPlan:
      return "plan";
    case Body::kWindow:
    case Body::kTrace:
    case Body::kStacks:
    case Body::kCapture:
    case Body::kProbe:
      return "answer";
    case Body::kHello:
    case Body::kRank:
    case Body::kGroup:
    case Body::kFacts:
    case Body::BODY_NOT_SET:
      return "identity";
  }
  return "identity";
}

}  // namespace

void Outbox::KeepIn(Spool& spool) {
  const service::MutexLock lock(mutex_);
  spool_ = &spool;
  const Spool::Left& left = spool.left();
  last_serial_ = left.last;
  loaded_ = left.acknowledged;
  spilled_ = left.last > left.acknowledged;
  for (const auto& [key, message] : left.standing) standing_[key] = {message, left.last + 1};
}

void Outbox::PutStanding(const std::string& key, v1::AgentMessage message) {
  const service::MutexLock lock(mutex_);
  if (spool_ != nullptr) spool_->PutStanding(key, message);
  if (streaming_) Push(message, Kind::kStanding);
  standing_[key] = {std::move(message), 0};
}

void Outbox::RetireStanding(const std::string& key) {
  const service::MutexLock lock(mutex_);
  const auto at = standing_.find(key);
  if (at == standing_.end()) return;
  at->second.until = last_serial_ + 1;
  ForgetRetired();
}

std::uint64_t Outbox::Done() const {
  std::uint64_t done = spilled_ ? loaded_ : last_serial_;
  for (const Entry& entry : entries_) {
    if (entry.serial == 0) continue;
    done = std::min(done, entry.serial - 1);
    if (!disordered_) break;
  }
  return done;
}

void Outbox::ForgetRetired() {
  const std::uint64_t done = Done();
  std::erase_if(standing_, [this, done](const auto& each) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool over = each.second.until != 0 && each.second.until <= done + 1;
    if (over && spool_ != nullptr) spool_->ForgetStanding(each.first);
    return over;
  });
}

void Outbox::PutDurable(v1::AgentMessage message) {
  const service::MutexLock lock(mutex_);
  const Kind kind = message.has_gone() ? Kind::kDeath : Kind::kDurable;
  Push(std::move(message), kind);
}

void Outbox::PutMomentary(v1::AgentMessage message) {
  const service::MutexLock lock(mutex_);
  if (!streaming_) {
    ++counters_.momentary_lost;
    return;
  }
  if (message.has_health() || message.has_counters() || message.has_plan()) {
    DropSuperseded(message);
  }
  Push(std::move(message), Kind::kMomentary);
}

void Outbox::PutBulk(v1::AgentMessage message) {
  const service::MutexLock lock(mutex_);
  Push(std::move(message), Kind::kBulk);
}

void Outbox::DropSuperseded(const v1::AgentMessage& message) {
  const auto unsent = entries_.begin() + static_cast<std::ptrdiff_t>(sent_);
  const auto at = std::find_if(unsent, entries_.end(), [&message](const Entry& entry) {
    return entry.message.body_case() == message.body_case();
  });
  if (at != entries_.end()) Drop(at);
}

void Outbox::Push(v1::AgentMessage message, Kind kind) {
  const std::size_t bytes = message.ByteSizeLong();
  if (bytes > kMaxMessageBytes) {
    CountDrop(message, kind);
    return;
  }
  const bool counts = kind == Kind::kDurable || kind == Kind::kDeath;
  const std::uint64_t serial = counts ? ++last_serial_ : 0;
  if (counts && spool_ != nullptr && Spill(serial, message, bytes)) return;
  bytes_ += bytes;
  entries_.push_back({std::move(message), bytes, 0, kind, serial});
  Shrink();
  changed_.NotifyAll();
}

bool Outbox::Spill(std::uint64_t serial, const v1::AgentMessage& message, std::size_t bytes) {
  spool_->PutDurable(serial, message);
  if (!spilled_ && bytes_ + bytes <= limit_bytes_) return false;
  if (!spool_->healthy()) {
    disordered_ = disordered_ || spilled_;
    return false;
  }
  if (!std::exchange(spilled_, true)) loaded_ = serial - 1;
  changed_.NotifyAll();
  return true;
}

void Outbox::Refill() {
  const std::uint64_t after = loaded_, until = last_serial_;
  Spool& spool = *spool_;
  mutex_.Unlock();
  const bool settled = spool.settled();
  std::vector<Spool::Message> messages = spool.After(after, kRefillBytes);
  mutex_.Lock();
  if (messages.empty()) {
    // Of what is written nothing is left: the rest, if there is any, was lost on the disk.
    if (settled && spool.healthy() && until == last_serial_) {
      spilled_ = false;
      ForgetRetired();
      changed_.NotifyAll();
    }
    return;
  }
  for (Spool::Message& each : messages) {
    loaded_ = each.serial;
    const bool here =
        disordered_ && std::any_of(entries_.begin(), entries_.end(), [&each](const Entry& entry) {
          return entry.serial == each.serial;
        });
    if (here) continue;
    const std::size_t bytes = each.message.ByteSizeLong();
    bytes_ += bytes;
    const Kind kind = each.message.has_gone() ? Kind::kDeath : Kind::kDurable;
    entries_.push_back({std::move(each.message), bytes, 0, kind, each.serial});
  }
}

void Outbox::CountDrop(const v1::AgentMessage& message, Kind kind) {
  counters_.dropped += kind == Kind::kMomentary ? 0 : 1;
  ++counters_.dropped_by_kind[NameOf(message.body_case())];
}

void Outbox::Drop(std::deque<Entry>::iterator at) {
  CountDrop(at->message, at->kind);
  counters_.momentary_lost += at->kind == Kind::kMomentary ? 1 : 0;
  bytes_ -= at->bytes;
  if (static_cast<std::size_t>(at - entries_.begin()) < sent_) --sent_;
  entries_.erase(at);
}

bool Outbox::DropOldest(Kind kind) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [kind](const Entry& entry) { return entry.kind == kind; });
  if (at == entries_.end()) return false;
  Drop(at);
  return true;
}

void Outbox::Shrink() {
  while (bytes_ > limit_bytes_ && entries_.size() > 1) {
    if (DropOldest(Kind::kBulk) || DropOldest(Kind::kMomentary)) continue;
    // What came back from the disk may be a little more than fits.
    if (spool_ != nullptr && spool_->healthy()) return;
    if (!DropOldest(Kind::kDurable)) return;
  }
}

void Outbox::BeginStream(const v1::Hello& hello) {
  const service::MutexLock lock(mutex_);
  std::erase_if(entries_, [this](const Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool keep = entry.serial != 0 || entry.kind == Kind::kBulk;
    if (!keep) bytes_ -= entry.bytes;
    counters_.momentary_lost += entry.kind == Kind::kMomentary ? 1 : 0;
    return !keep;
  });
  for (Entry& entry : entries_) entry.number = 0;
  for (auto it = standing_.rbegin(); it != standing_.rend(); ++it) {
    const std::size_t bytes = it->second.message.ByteSizeLong();
    bytes_ += bytes;
    entries_.push_front({it->second.message, bytes, 0, Kind::kStanding, 0});
  }
  v1::AgentMessage first;
  *first.mutable_hello() = hello;
  const std::size_t bytes = first.ByteSizeLong();
  bytes_ += bytes;
  entries_.push_front({std::move(first), bytes, 0, Kind::kStanding, 0});
  sent_ = 0;
  next_number_ = 1;
  streaming_ = true;
  together_ = false;
  changed_.NotifyAll();
}

void Outbox::SendTogether() {
  const service::MutexLock lock(mutex_);
  together_ = true;
}

void Outbox::EndStream() {
  const service::MutexLock lock(mutex_);
  streaming_ = false;
  changed_.NotifyAll();
}

std::optional<v1::AgentMessage> Outbox::Next(std::chrono::steady_clock::time_point deadline) {
  service::MutexLock lock(mutex_);
  const auto has_one = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !streaming_ || sent_ < entries_.size();
  };
  while (!has_one()) {
    const bool look = MayRefill();
    if (look) Refill();
    if (has_one() || std::chrono::steady_clock::now() >= deadline) break;
    // What was put a moment ago is not on the disk yet.
    const auto soon = std::chrono::steady_clock::now() + kDiskTakes;
    changed_.WaitUntil(mutex_, look && spilled_ ? std::min(soon, deadline) : deadline,
                       [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                         return has_one() || (!look && MayRefill());
                       });
  }
  if (!streaming_ || sent_ >= entries_.size()) return std::nullopt;
  const Entry& first = TakeNext();
  v1::AgentMessage out = first.message;
  std::size_t bytes = first.bytes;
  while (together_ && sent_ < entries_.size() && out.more_size() < kMostTogether &&
         bytes + entries_[sent_].bytes <= kBytesTogether) {
    const Entry& next = TakeNext();
    bytes += next.bytes;
    *out.add_more() = next.message;
  }
  return out;
}

const Outbox::Entry& Outbox::TakeNext() {
  Entry& entry = entries_[sent_++];
  entry.number = next_number_++;
  entry.message.set_number(entry.number);
  counters_.bytes_sent += entry.bytes;
  ++counters_.sent;
  return entry;
}

void Outbox::Acknowledge(std::uint64_t number) {
  const service::MutexLock lock(mutex_);
  while (sent_ > 0 && entries_.front().number <= number) {
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
    --sent_;
  }
  ForgetRetired();
  if (spool_ != nullptr) spool_->Acknowledge(Done());
  if (entries_.empty() || spilled_) changed_.NotifyAll();
}

bool Outbox::WaitUntilEmpty(std::chrono::steady_clock::time_point deadline) {
  service::MutexLock lock(mutex_);
  return changed_.WaitUntil(mutex_, deadline, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return entries_.empty() && !spilled_;
  });
}

OutboxCounters Outbox::counters() const {
  const service::MutexLock lock(mutex_);
  OutboxCounters out = counters_;
  out.waiting = entries_.size() + (spilled_ ? last_serial_ - loaded_ : 0);
  return out;
}

}  // namespace fathom::agent
