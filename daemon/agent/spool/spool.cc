#include "daemon/agent/spool/spool.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace fathom::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGather{10};
constexpr milliseconds kTryAgain{1000};
constexpr std::int64_t kSyncEveryNs = 1'000'000'000;

// First byte of a record.
constexpr char kStanding = 'S';      // key, NUL, message
constexpr char kForgotten = 'F';     // key
constexpr char kMessage = 'M';       // serial, message
constexpr char kAcknowledged = 'A';  // serial

std::string NumberRecord(char kind, std::uint64_t serial) {
  std::string record(1, kind);
  record.append(reinterpret_cast<const char*>(&serial), sizeof(serial));
  return record;
}

std::string StandingRecord(const std::string& key, const std::string& message) {
  return kStanding + key + '\0' + message;
}

std::optional<std::uint64_t> SerialOf(std::string_view record, char kind) {
  if (record.size() < 9 || record[0] != kind) return std::nullopt;
  std::uint64_t serial = 0;
  std::memcpy(&serial, record.data() + 1, sizeof(serial));
  return serial;
}

bool Parse(std::string_view bytes, v1::AgentMessage& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Spool>> Spool::Open(const SpoolSettings& settings,
                                                   WallClock wall_now) {
  std::unique_ptr<Spool> spool(new Spool(settings, std::move(wall_now)));
  if (absl::Status status = spool->OpenLog(); !status.ok()) return status;
  spool->ReadLeft();
  spool->thread_ = std::thread([raw = spool.get()] { raw->Run(); });
  return spool;
}

Spool::~Spool() { Close(); }

absl::Status Spool::OpenLog() {
  const service::MutexLock log_lock(log_mutex_);
  auto log = service::SegmentLog::Open(
      settings_.folder, {settings_.segment_bytes, settings_.max_bytes}, [this] { return Heads(); },
      [](const std::string& problem) { spdlog::error("spool: {}", problem); });
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  log_->RemoveOlderThan(wall_now_() - settings_.max_age);
  return absl::OkStatus();
}

void Spool::ReadLeft() {
  const service::MutexLock log_lock(log_mutex_);
  std::uint64_t held = 0;
  log_->ReadEarlier([&](std::uint64_t sequence,
                        std::string_view record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(log_mutex_) {
    if (const auto serial = SerialOf(record, kAcknowledged)) {
      left_.acknowledged = std::max(left_.acknowledged, *serial);
    } else if (const auto durable = SerialOf(record, kMessage)) {
      left_.last = std::max(left_.last, *durable);
      marks_.push_back({*durable, sequence + 1});
    } else if (!record.empty() && record[0] == kStanding) {
      const std::size_t end = record.find('\0');
      v1::AgentMessage message;
      if (end == std::string_view::npos || !Parse(record.substr(end + 1), message)) return;
      left_.standing[std::string(record.substr(1, end - 1))] = std::move(message);
    }
    if (!record.empty() && record[0] == kForgotten) {
      left_.standing.erase(std::string(record.substr(1)));
    }
    held += record.size();
  });
  left_.last = std::max(left_.last, left_.acknowledged);
  if (left_.last == left_.acknowledged) left_.standing.clear();
  {
    const service::MutexLock lock(mutex_);
    acknowledged_ = noted_ = left_.acknowledged;
    for (const auto& [key, message] : left_.standing) standing_[key] = message.SerializeAsString();
    counters_.damaged = log_->counters().torn + log_->counters().corrupt;
  }
  Tidy();
  if (left_.last > left_.acknowledged) {
    spdlog::info("spool: {} bytes of an earlier agent, messages {} to {} wait for the collector",
                 held, left_.acknowledged + 1, left_.last);
  }
}

// Called by the log within Append, under log_mutex_.
std::vector<std::string> Spool::Heads() const {
  const service::MutexLock lock(mutex_);
  std::vector<std::string> heads{NumberRecord(kAcknowledged, acknowledged_)};
  for (const auto& [key, message] : standing_) heads.push_back(StandingRecord(key, message));
  return heads;
}

void Spool::PutStanding(const std::string& key, const v1::AgentMessage& message) {
  std::string bytes = message.SerializeAsString();
  const service::MutexLock lock(mutex_);
  std::string& kept = standing_[key];
  if (kept == bytes) return;
  kept = std::move(bytes);
  Enqueue({StandingRecord(key, kept), 0});
}

void Spool::ForgetStanding(const std::string& key) {
  const service::MutexLock lock(mutex_);
  if (standing_.erase(key) > 0) Enqueue({kForgotten + key, 0});
}

void Spool::PutDurable(std::uint64_t serial, const v1::AgentMessage& message) {
  std::string record = NumberRecord(kMessage, serial);
  message.AppendToString(&record);
  const service::MutexLock lock(mutex_);
  Enqueue({std::move(record), serial});
}

void Spool::Enqueue(Queued queued) {
  queued_bytes_ += queued.record.size();
  queue_.push_back(std::move(queued));
  while (queued_bytes_ > kMaxQueuedBytes && queue_.size() > 1) {
    counters_.pushed_out += queue_.front().serial != 0 ? 1 : 0;
    queued_bytes_ -= queue_.front().record.size();
    queue_.pop_front();
  }
  if (!failing_) wake_.NotifyOne();
}

void Spool::Acknowledge(std::uint64_t serial) {
  const service::MutexLock lock(mutex_);
  if (serial <= acknowledged_) return;
  acknowledged_ = serial;
  if (!failing_) wake_.NotifyOne();
}

void Spool::Run() {
  std::int64_t synced_ns = 0;
  service::MutexLock lock(mutex_);
  while (true) {
    const auto due = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stop_ || !queue_.empty() || acknowledged_ != noted_;
    };
    if (!failing_) wake_.WaitFor(mutex_, kTryAgain, due);
    wake_.WaitFor(mutex_, failing_ ? kTryAgain : kGather,
                  [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
    std::vector<Queued> batch(std::make_move_iterator(queue_.begin()),
                              std::make_move_iterator(queue_.end()));
    queue_.clear();
    queued_bytes_ = 0;
    const std::uint64_t acknowledged = acknowledged_;
    if (acknowledged != noted_) batch.push_back({NumberRecord(kAcknowledged, acknowledged), 0});
    writing_ = true;
    const bool last = stop_;
    lock.Unlock();
    {
      const service::MutexLock log_lock(log_mutex_);
      WriteBatch(batch);
      const std::int64_t now_ns = wall_now_().ns;
      if (last || now_ns - synced_ns >= kSyncEveryNs || now_ns < synced_ns) {
        synced_ns = now_ns;
        (void)log_->Sync();
        log_->RemoveOlderThan(wall_now_() - settings_.max_age);
      }
      Tidy();
    }
    lock.Lock();
    writing_ = false;
    if (last) return;
  }
}

void Spool::WriteBatch(std::vector<Queued>& batch) {
  if (batch.empty()) return;
  std::vector<std::string_view> records;
  Mark mark;
  for (const Queued& queued : batch) {
    records.push_back(queued.record);
    mark.serial = std::max(mark.serial, queued.serial);
  }
  const absl::Status status = log_->Append(records, wall_now_());
  mark.sequence = log_->next();
  if (status.ok() && mark.serial != 0) marks_.push_back(mark);
  const service::MutexLock lock(mutex_);
  if (status.ok()) {
    if (std::exchange(failing_, false)) spdlog::info("spool: the disk takes messages again");
    if (const auto noted = SerialOf(batch.back().record, kAcknowledged)) noted_ = *noted;
    return;
  }
  if (!std::exchange(failing_, true)) {
    spdlog::error("spool: {}; messages are kept in memory meanwhile", status.ToString());
  }
  if (SerialOf(batch.back().record, kAcknowledged)) batch.pop_back();
  for (auto at = batch.rbegin(); at != batch.rend(); ++at) {
    queued_bytes_ += at->record.size();
    queue_.push_front(std::move(*at));
  }
}

void Spool::Tidy() {
  std::uint64_t acknowledged = 0;
  {
    const service::MutexLock lock(mutex_);
    acknowledged = noted_;
  }
  std::uint64_t done = 0;
  while (!marks_.empty() && marks_.front().serial <= acknowledged) {
    done = marks_.front().sequence;
    marks_.pop_front();
  }
  if (done != 0) log_->RemoveBefore(done);
  CountPushedOut();
}

void Spool::CountPushedOut() {
  const std::uint64_t oldest = log_->oldest();
  std::uint64_t gone = 0, before = 0;
  const service::MutexLock lock(mutex_);
  before = noted_;
  while (!marks_.empty() && marks_.front().sequence <= oldest) {
    if (marks_.front().serial > before) gone += marks_.front().serial - before;
    before = std::max(before, marks_.front().serial);
    marks_.pop_front();
  }
  counters_.pushed_out += gone;
  counters_.bytes = log_->counters().bytes;
  counters_.write_errors = log_->counters().write_errors;
}

std::vector<Spool::Message> Spool::After(std::uint64_t serial, std::uint64_t bytes) {
  std::vector<Message> messages;
  const service::MutexLock lock(log_mutex_);
  std::uint64_t from = read_.serial == serial && serial != 0 ? read_.sequence : log_->oldest();
  while (messages.empty() && from < log_->next()) {
    const std::uint64_t before = from;
    from = log_->Read(from, bytes, [&](std::uint64_t, std::string_view record) {
      const auto number = SerialOf(record, kMessage);
      Message read{number.value_or(0), {}};
      if (read.serial <= serial || !Parse(record.substr(9), read.message)) return;
      messages.push_back(std::move(read));
    });
    if (from == before) break;  // the rest is damaged
  }
  if (!messages.empty()) read_ = {messages.back().serial, from};
  return messages;
}

bool Spool::healthy() const {
  const service::MutexLock lock(mutex_);
  return !failing_;
}

bool Spool::settled() const {
  const service::MutexLock lock(mutex_);
  return queue_.empty() && !writing_;
}

SpoolCounters Spool::counters() const {
  const service::MutexLock lock(mutex_);
  return counters_;
}

void Spool::Close() {
  if (!thread_.joinable()) return;
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

}  // namespace fathom::agent
