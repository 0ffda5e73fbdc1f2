#include "collector/bus/nats_appender.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::collector {
namespace {

constexpr std::chrono::milliseconds kTick{100};

// Why the stream does not keep it; empty: it does.
std::string RefusalIn(natsMsg* message) {
  if (natsMsg_IsNoResponders(message)) return "the stream has no leader";
  const auto answer = nlohmann::json::parse(BytesOf(message), nullptr, false);
  if (!answer.is_object()) return "an answer that is no JSON";
  if (!answer.contains("error")) return "";
  return answer["error"].value("description", "an error without words");
}

}  // namespace

absl::StatusOr<std::unique_ptr<NatsAppender>> NatsAppender::Start(NatsConnection& connection) {
  std::unique_ptr<NatsAppender> appender(new NatsAppender(connection));
  const auto inbox = NewInbox();
  if (!inbox.ok()) return inbox.status();
  appender->inbox_ = absl::StrCat(*inbox, ".");
  natsSubscription* raw = nullptr;
  const natsStatus s =
      natsConnection_Subscribe(&raw, connection.get(), absl::StrCat(appender->inbox_, "*").c_str(),
                               &OnAnswer, appender.get());
  if (s != NATS_OK) return NatsFailure("bus", s);
  natsSubscription_SetPendingLimits(raw, -1, -1);
  appender->answers_.reset(raw);
  connection.AddBack(appender.get(), [mine = appender.get()] {
    const service::MutexLock lock(mine->mutex_);
    mine->again_ = true;
    mine->wake_.NotifyAll();
  });
  appender->thread_ = std::thread([mine = appender.get()] { mine->Run(); });
  return appender;
}

NatsAppender::~NatsAppender() {
  connection_.RemoveBack(this);
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  if (answers_) natsSubscription_DrainTimeout(answers_.get(), 1000);
  if (answers_) natsSubscription_WaitForDrainCompletion(answers_.get(), 1500);
}

std::uint64_t NatsAppender::Append(std::string subject, std::string bytes) {
  const service::MutexLock lock(mutex_);
  const std::uint64_t number = ++appended_;
  waiting_bytes_ += bytes.size();
  if (waiting_.empty()) progress_ = std::chrono::steady_clock::now();
  const auto at = waiting_.emplace(number, Waiting{std::move(subject), std::move(bytes)}).first;
  // Under the lock, so that records go out in the order of their numbers.
  Publish(number, at->second);
  if (waiting_bytes_ > Bus::kMaxWaitingBytes) GiveUpLocked();
  return number;
}

void NatsAppender::Publish(std::uint64_t number, const Waiting& record) {
  // One that fails has no answer, and is sent again.
  natsConnection_PublishRequest(connection_.get(), record.subject.c_str(),
                                absl::StrCat(inbox_, number).c_str(), record.bytes.data(),
                                static_cast<int>(record.bytes.size()));
}

void NatsAppender::OnAnswer(natsConnection*, natsSubscription*, natsMsg* raw, void* self) {
  const NatsMessage message(raw);
  auto& mine = *static_cast<NatsAppender*>(self);
  const std::string_view subject = natsMsg_GetSubject(message.get());
  std::uint64_t number = 0;
  if (!subject.starts_with(mine.inbox_)) return;
  if (!absl::SimpleAtoi(std::string(subject.substr(mine.inbox_.size())), &number)) return;
  mine.Answered(number, RefusalIn(message.get()));
}

void NatsAppender::Answered(std::uint64_t number, const std::string& why) {
  const service::MutexLock lock(mutex_);
  const auto at = waiting_.find(number);
  if (at == waiting_.end() || at->second.answered) return;
  if (!why.empty()) {
    ++counters_.errors;
    failing_ = why;  // sent again when the patience is over
    return;
  }
  at->second.answered = true;
  ++counters_.appended;
  progress_ = std::chrono::steady_clock::now();
  failing_.clear();
  if (number == waiting_.begin()->first) {
    DropAnsweredLocked();
    wake_.NotifyAll();
  }
}

void NatsAppender::DropAnsweredLocked() {
  auto at = waiting_.begin();
  for (; at != waiting_.end() && at->second.answered; at = waiting_.erase(at)) {
    waiting_bytes_ -= at->second.bytes.size();
  }
  durable_ = at == waiting_.end() ? appended_ : at->first - 1;
}

void NatsAppender::GiveUpLocked() {
  while (waiting_bytes_ > Bus::kMaxWaitingBytes && !waiting_.empty()) {
    counters_.given_up += waiting_.begin()->second.answered ? 0 : 1;
    waiting_bytes_ -= waiting_.begin()->second.bytes.size();
    waiting_.erase(waiting_.begin());
  }
  DropAnsweredLocked();
  wake_.NotifyAll();
}

void NatsAppender::SendAgainLocked() {
  again_ = false;
  progress_ = std::chrono::steady_clock::now();
  for (const auto& [number, record] : waiting_) {
    if (record.answered) continue;
    ++counters_.redelivered;
    Publish(number, record);
  }
}

void NatsAppender::Run() {
  service::MutexLock lock(mutex_);
  while (!stop_) {
    wake_.WaitFor(mutex_, kTick);
    const bool late = std::chrono::steady_clock::now() - progress_ > kPatience;
    if (!waiting_.empty() && (again_ || late) && connection_.connected()) SendAgainLocked();
    std::vector<std::function<void()>> due;
    const auto end = callers_.upper_bound(durable_);
    for (auto at = callers_.begin(); at != end; ++at) due.push_back(std::move(at->second));
    callers_.erase(callers_.begin(), end);
    lock.Unlock();
    for (const auto& each : due) each();
    lock.Lock();
  }
}

bool NatsAppender::WhenDurable(std::uint64_t record, std::function<void()> done) {
  const service::MutexLock lock(mutex_);
  if (record <= durable_) return false;
  callers_.emplace(record, std::move(done));
  return true;
}

std::string NatsAppender::failing() const {
  if (!connection_.connected()) {
    return absl::StrCat("no connection to ", connection_.settings().urls);
  }
  const service::MutexLock lock(mutex_);
  return failing_;
}

BusCounters NatsAppender::counters() const {
  const service::MutexLock lock(mutex_);
  BusCounters counters = counters_;
  counters.waiting = waiting_.size();
  counters.reconnects = connection_.reconnects();
  return counters;
}

}  // namespace fathom::collector
