#include "collector/bus/nats_hearing.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace fathom::collector {
namespace {

using Shared = std::shared_ptr<NatsEar>;

void OnMessage(natsConnection*, natsSubscription*, natsMsg* raw, void* closure) {
  const NatsMessage message(raw);
  const Shared ear = *static_cast<Shared*>(closure);
  const service::MutexLock lock(ear->mutex);
  if (ear->open) ear->call(message.get());
}

// Nothing is called any more.
void OnOver(void* closure) { delete static_cast<Shared*>(closure); }

// From now on the subscription frees what it calls, whenever it is done with it.
void HandOver(natsSubscription* subscription, std::unique_ptr<Shared> closure) {
  if (natsSubscription_SetOnCompleteCB(subscription, &OnOver, closure.get()) == NATS_OK) {
    closure.release();  // NOLINT(bugprone-unused-return-value)
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<NatsHearing>> NatsHearing::Start(
    NatsConnection& connection, const std::string& subject, std::function<void(natsMsg*)> call) {
  auto hearing = std::make_unique<NatsHearing>();
  hearing->ear_ = std::make_shared<NatsEar>();
  hearing->ear_->call = std::move(call);
  auto closure = std::make_unique<Shared>(hearing->ear_);
  natsSubscription* raw = nullptr;
  const natsStatus s =
      natsConnection_Subscribe(&raw, connection.get(), subject.c_str(), &OnMessage, closure.get());
  if (s != NATS_OK) return NatsFailure(absl::StrCat("bus: ", subject), s);
  hearing->subscription_.reset(raw);
  HandOver(raw, std::move(closure));
  return hearing;
}

NatsHearing::~NatsHearing() {
  subscription_.reset();
  const service::MutexLock lock(ear_->mutex);
  ear_->open = false;
}

absl::StatusOr<std::unique_ptr<NatsAnswering>> NatsAnswering::Start(NatsConnection& connection,
                                                                    const std::string& subject,
                                                                    Bus::OnAsked on_asked) {
  std::unique_ptr<NatsAnswering> answering(new NatsAnswering(connection, std::move(on_asked)));
  auto hearing = NatsHearing::Start(
      connection, subject, [mine = answering.get()](natsMsg* message) { mine->Take(message); });
  if (!hearing.ok()) return hearing.status();
  answering->hearing_ = *std::move(hearing);
  for (int i = 0; i < kWorkers; ++i) {
    answering->workers_.emplace_back([mine = answering.get()] { mine->Work(); });
  }
  return answering;
}

NatsAnswering::~NatsAnswering() {
  hearing_.reset();
  std::deque<Question> left;
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
    left.swap(questions_);
    wake_.NotifyAll();
  }
  // Nothing at all: whoever asks need not wait any longer.
  for (const Question& each : left) {
    natsConnection_Publish(connection_.get(), each.reply.c_str(), "", 0);
  }
  for (std::thread& worker : workers_) worker.join();
}

// Beyond the bound it is not answered: whoever asks waits, and says so.
void NatsAnswering::Take(natsMsg* message) {
  const char* reply = natsMsg_GetReply(message);
  if (reply == nullptr) return;
  const service::MutexLock lock(mutex_);
  if (questions_.size() >= kMaxWaiting) return;
  questions_.push_back({reply, std::string(BytesOf(message))});
  wake_.NotifyOne();
}

void NatsAnswering::Work() {
  service::MutexLock lock(mutex_);
  while (true) {
    wake_.Wait(mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stop_ || !questions_.empty();
    });
    if (stop_) return;
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    lock.Unlock();
    Reply(question, on_asked_(question.bytes));
    lock.Lock();
  }
}

void NatsAnswering::Reply(const Question& question, std::string_view answer) {
  do {
    const std::size_t size = std::min(answer.size(), kPartBytes);
    std::string part(1, size == answer.size() ? kLast : kMore);
    part.append(answer.substr(0, size));
    answer.remove_prefix(size);
    natsConnection_Publish(connection_.get(), question.reply.c_str(), part.data(),
                           static_cast<int>(part.size()));
    if (part[0] == kLast) return;
  } while (true);
}

absl::StatusOr<std::unique_ptr<NatsFollowing>> NatsFollowing::Start(
    NatsConnection& connection, std::string subject, Bus::OnKept on_kept,
    std::function<void()> caught_up) {
  std::unique_ptr<NatsFollowing> following(
      new NatsFollowing(connection, std::move(subject), std::move(on_kept), std::move(caught_up)));
  NatsFollowing* const mine = following.get();
  mine->ear_->call = [mine](natsMsg* message)
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mine->ear_->mutex) { mine->Take(message); };
  if (auto status = following->Subscribe(); !status.ok()) return status;
  connection.AddBack(mine, [mine] {
    const service::MutexLock lock(mine->mutex_);
    mine->again_ = true;
    mine->wake_.NotifyAll();
  });
  mine->thread_ = std::thread([mine] { mine->Run(); });
  return following;
}

NatsFollowing::~NatsFollowing() {
  connection_.RemoveBack(this);
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  subscription_.reset();
  const service::MutexLock lock(ear_->mutex);
  ear_->open = false;
}

absl::Status NatsFollowing::Subscribe() {
  subscription_.reset();
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = NatsConnection::kStream;
  options.Ordered = true;
  {
    const service::MutexLock lock(ear_->mutex);
    options.Config.DeliverPolicy = js_DeliverByStartSequence;
    options.Config.OptStartSeq = newest_ + 1;
    heard_ = until_ = 0;
  }
  auto closure = std::make_unique<Shared>(ear_);
  natsSubscription* raw = nullptr;
  jsErrCode code = {};
  const natsStatus s = js_Subscribe(&raw, connection_.js(), subject_.c_str(), &OnMessage,
                                    closure.get(), nullptr, &options, &code);
  if (s != NATS_OK) return NatsFailure(absl::StrCat("bus: ", subject_), s, code);
  subscription_.reset(raw);
  natsSubscription_SetPendingLimits(raw, -1, -1);
  HandOver(raw, std::move(closure));
  jsConsumerInfo* info = nullptr;
  if (natsSubscription_GetConsumerInfo(&info, raw, nullptr, nullptr) == NATS_OK) {
    const std::uint64_t there = info->NumPending + info->Delivered.Consumer;
    jsConsumerInfo_Destroy(info);
    const service::MutexLock lock(ear_->mutex);
    until_ = there;
    if (heard_ >= until_) CaughtUpLocked();
  }
  return absl::OkStatus();
}

void NatsFollowing::CaughtUpLocked() {
  if (told_ || !ear_->open) return;
  told_ = true;
  caught_up_();
}

void NatsFollowing::Take(natsMsg* message) {
  jsMsgMetaData* meta = nullptr;
  if (natsMsg_GetMetaData(&meta, message) != NATS_OK) return;
  const Bus::Kept kept{meta->Sequence.Stream, meta->NumPending, BytesOf(message)};
  jsMsgMetaData_Destroy(meta);
  if (kept.sequence <= newest_) return;
  newest_ = kept.sequence;
  ++heard_;
  on_kept_(kept);
  // Of a job that tells a lot there may always be one more.
  if (kept.behind == 0 || (until_ > 0 && heard_ >= until_)) CaughtUpLocked();
}

void NatsFollowing::Run() {
  constexpr std::chrono::milliseconds kTryAgain{250};
  service::MutexLock lock(mutex_);
  while (true) {
    wake_.Wait(mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || again_; });
    if (stop_) return;
    again_ = false;
    lock.Unlock();
    const absl::Status status = Subscribe();
    lock.Lock();
    if (status.ok() || stop_) continue;
    again_ = true;
    wake_.WaitFor(mutex_, kTryAgain,
                  [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
  }
}

}  // namespace fathom::collector
