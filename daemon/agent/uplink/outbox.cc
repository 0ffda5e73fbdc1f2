#include "daemon/agent/uplink/outbox.h"

#include <algorithm>
#include <utility>

namespace fathom::agent {

void Outbox::PutStanding(const std::string& key, v1::AgentMessage message) {
  const std::lock_guard lock(mutex_);
  if (streaming_) Push(message, false);
  standing_[key] = std::move(message);
}

void Outbox::RemoveStanding(const std::string& key) {
  const std::lock_guard lock(mutex_);
  standing_.erase(key);
}

void Outbox::PutDurable(v1::AgentMessage message) {
  const std::lock_guard lock(mutex_);
  Push(std::move(message), true);
}

void Outbox::PutMomentary(v1::AgentMessage message) {
  const std::lock_guard lock(mutex_);
  if (streaming_) Push(std::move(message), false);
}

void Outbox::Push(v1::AgentMessage message, bool durable) {
  const std::size_t bytes = message.ByteSizeLong();
  if (bytes > kMaxMessageBytes) {
    ++counters_.dropped;
    return;
  }
  bytes_ += bytes;
  entries_.push_back({std::move(message), bytes, 0, durable});
  Shrink();
  changed_.notify_all();
}

void Outbox::Shrink() {
  while (bytes_ > limit_bytes_ && entries_.size() > 1) {
    counters_.dropped += entries_.front().durable;
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
    if (sent_ > 0) --sent_;
  }
}

void Outbox::BeginStream(const v1::Hello& hello) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [this](const Entry& entry) {
    if (!entry.durable) bytes_ -= entry.bytes;
    return !entry.durable;
  });
  for (Entry& entry : entries_) entry.number = 0;
  for (auto it = standing_.rbegin(); it != standing_.rend(); ++it) {
    const std::size_t bytes = it->second.ByteSizeLong();
    bytes_ += bytes;
    entries_.push_front({it->second, bytes, 0, false});
  }
  v1::AgentMessage first;
  *first.mutable_hello() = hello;
  const std::size_t bytes = first.ByteSizeLong();
  bytes_ += bytes;
  entries_.push_front({std::move(first), bytes, 0, false});
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
