#include "daemon/agent/uplink/outbox.h"

#include <algorithm>
#include <utility>

namespace fathom::agent {
namespace {

using Body = v1::AgentMessage::BodyCase;

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
    case Body::kWindow:
    case Body::kTrace:
    case Body::kStacks:
    case Body::kCapture:
      return "answer";
    case Body::kHello:
    case Body::kRank:
    case Body::kGroup:
    case Body::BODY_NOT_SET:
      return "identity";
  }
  return "identity";
}

}  // namespace

void Outbox::PutStanding(const std::string& key, v1::AgentMessage message) {
  const std::lock_guard lock(mutex_);
  if (streaming_) Push(message, Kind::kStanding);
  standing_[key] = {std::move(message), 0};
}

void Outbox::RetireStanding(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto at = standing_.find(key);
  if (at == standing_.end()) return;
  at->second.until = std::max<std::uint64_t>(last_serial_, 1);
  ForgetRetired();
}

void Outbox::ForgetRetired() {
  const auto oldest = std::find_if(entries_.begin(), entries_.end(),
                                   [](const Entry& entry) { return entry.serial != 0; });
  const std::uint64_t waiting = oldest == entries_.end() ? ~std::uint64_t{0} : oldest->serial;
  std::erase_if(standing_, [waiting](const auto& each) {
    return each.second.until != 0 && each.second.until < waiting;
  });
}

void Outbox::PutDurable(v1::AgentMessage message) {
  const std::lock_guard lock(mutex_);
  const Kind kind = message.has_gone() ? Kind::kDeath : Kind::kDurable;
  Push(std::move(message), kind);
}

void Outbox::PutMomentary(v1::AgentMessage message) {
  const std::lock_guard lock(mutex_);
  if (!streaming_) return;
  if (message.has_health() || message.has_counters()) DropSuperseded(message);
  Push(std::move(message), Kind::kMomentary);
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
  bytes_ += bytes;
  const bool counts = kind == Kind::kDurable || kind == Kind::kDeath;
  const std::uint64_t serial = counts ? ++last_serial_ : 0;
  entries_.push_back({std::move(message), bytes, 0, kind, serial});
  Shrink();
  changed_.notify_all();
}

void Outbox::CountDrop(const v1::AgentMessage& message, Kind kind) {
  counters_.dropped += kind == Kind::kMomentary ? 0 : 1;
  ++counters_.dropped_by_kind[NameOf(message.body_case())];
}

void Outbox::Drop(std::deque<Entry>::iterator at) {
  CountDrop(at->message, at->kind);
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
    if (!DropOldest(Kind::kMomentary) && !DropOldest(Kind::kDurable)) return;
  }
}

void Outbox::BeginStream(const v1::Hello& hello) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [this](const Entry& entry) {
    const bool keep = entry.serial != 0;
    if (!keep) bytes_ -= entry.bytes;
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
  changed_.notify_all();
}

void Outbox::EndStream() {
  const std::lock_guard lock(mutex_);
  streaming_ = false;
  changed_.notify_all();
}

std::optional<v1::AgentMessage> Outbox::Next(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return !streaming_ || sent_ < entries_.size(); });
  if (!streaming_ || sent_ >= entries_.size()) return std::nullopt;
  Entry& entry = entries_[sent_++];
  entry.number = next_number_++;
  entry.message.set_number(entry.number);
  counters_.bytes_sent += entry.bytes;
  ++counters_.sent;
  return entry.message;
}

void Outbox::Acknowledge(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  while (sent_ > 0 && entries_.front().number <= number) {
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
    --sent_;
  }
  ForgetRetired();
  if (entries_.empty()) changed_.notify_all();
}

bool Outbox::WaitUntilEmpty(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return entries_.empty(); });
}

OutboxCounters Outbox::counters() const {
  const std::lock_guard lock(mutex_);
  OutboxCounters out = counters_;
  out.waiting = entries_.size();
  return out;
}

}  // namespace fathom::agent
