#include "collector/ingest/agent_stream.h"

#include <utility>

#include "collector/admission/limits.h"
#include "collector/journal/journal.h"
#include "collector/ops/op_store.h"

namespace fathom::collector {
namespace {

MonoNs ToMono(std::chrono::steady_clock::time_point time) {
  const auto since = time.time_since_epoch();
  return MonoNs(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

std::unique_ptr<StreamSession> MakeSession(std::uint64_t id, IngestContext& context,
                                           std::weak_ptr<RowsChannel> channel, Witness witness) {
  if (context.make_session) {
    return context.make_session(id, std::move(channel), std::move(witness));
  }
  return std::make_unique<AgentSession>(id, context, std::move(channel), std::move(witness));
}

}  // namespace

bool AgentStream::Outbox::Pass(v1::CollectorMessage message) {
  const service::MutexLock lock(mutex_);
  return stream_ != nullptr && stream_->Queue(std::move(message));
}

void AgentStream::Outbox::Committed() {
  const service::MutexLock lock(mutex_);
  if (stream_ != nullptr) stream_->Committed();
}

void AgentStream::Outbox::ReadOn() {
  const service::MutexLock lock(mutex_);
  if (stream_ != nullptr) stream_->StartRead(&stream_->in_);
}

void AgentStream::Outbox::Detach() {
  const service::MutexLock lock(mutex_);
  stream_ = nullptr;
}

AgentStream::AgentStream(std::uint64_t id, IngestContext& context, Witness witness,
                         std::string version, AgentStreams& streams)
    : outbox_(std::make_shared<Outbox>(this)),
      durable_(context.durable != nullptr ? context.durable : context.journal),
      ops_(context.ops),
      session_(MakeSession(id, context, outbox_, std::move(witness))),
      counters_(context.counters),
      budget_(streams.rate()),
      version_(std::move(version)),
      streams_(streams) {
  streams_.Add(this);
  StartRead(&in_);
}

AgentStream::~AgentStream() {
  outbox_->Detach();
  streams_.Remove(this);
}

bool AgentStream::EndUngreeted(std::chrono::steady_clock::time_point born) {
  const service::MutexLock lock(mutex_);
  if (greeted_ || finished_ || born_ >= born) return false;
  FinishLocked({grpc::StatusCode::DEADLINE_EXCEEDED, "no Hello came"});
  return true;
}

void AgentStreams::Add(AgentStream* stream) {
  const service::MutexLock lock(mutex_);
  streams_.insert(stream);
}

void AgentStreams::Remove(AgentStream* stream) {
  const service::MutexLock lock(mutex_);
  streams_.erase(stream);
}

std::size_t AgentStreams::size() const {
  const service::MutexLock lock(mutex_);
  return streams_.size();
}

std::size_t AgentStreams::EndUngreeted(std::chrono::steady_clock::time_point born) {
  const service::MutexLock lock(mutex_);
  std::size_t ended = 0;
  for (AgentStream* stream : streams_) ended += stream->EndUngreeted(born);
  return ended;
}

void AgentStream::Greet(const std::string& refused) {
  v1::CollectorMessage message;
  message.mutable_hello()->set_version(version_);
  message.mutable_hello()->set_protocol(kProtocolVersion);
  message.mutable_hello()->set_refused(refused);
  message.mutable_hello()->set_takes_more(true);
  if (ops_ != nullptr) {
    for (const std::string& name : ops_->jobs().names())
      message.mutable_hello()->add_stream_ops(name);
  }
  Queue(std::move(message));
}

void AgentStream::OnReadDone(bool ok) {
  if (!ok) {
    const service::MutexLock lock(mutex_);
    FinishLocked(grpc::Status::OK);
    return;
  }
  const StreamSession::Outcome outcome = TakeAll();
  {
    const service::MutexLock lock(mutex_);
    taken_ = {session_->acknowledged(), session_->journaled(), session_->stored()};
    AwaitLocked();
    greeted_ = true;
    if (outcome.close) {
      const std::string why = outcome.refused.empty() ? "too many bad messages" : outcome.refused;
      finish_with_ = grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, why);
    }
    WriteNextLocked();
  }
  if (!outcome.close) ReadNext();
}

StreamSession::Outcome AgentStream::TakeAll() {
  const MonoNs now = ToMono(std::chrono::steady_clock::now());
  const auto take = [this, now](const v1::AgentMessage& message) {
    StreamSession::Outcome outcome = session_->OnMessage(message);
    if (outcome.greet) Greet(outcome.refused);
    pause_ = budget_.Take(message.ByteSizeLong(), session_->ranks(), now);
    return outcome;
  };
  google::protobuf::RepeatedPtrField<v1::AgentMessage> more;
  more.Swap(in_.mutable_more());
  StreamSession::Outcome outcome = take(in_);
  in_.Clear();
  if (more.size() > kMostMessagesTogether) {
    outcome = {.greet = false, .refused = "too many messages in one", .close = true};
  }
  for (auto& message : more) {
    if (outcome.close) break;
    message.clear_more();
    outcome = take(message);
  }
  return outcome;
}

// Whoever sends more than one agent may is not read for a while: the rest waits at its own end.
void AgentStream::ReadNext() {
  if (pause_.count <= 0) return StartRead(&in_);
  ++counters_.pauses;
  alarm_.Set(std::chrono::system_clock::now() + std::chrono::nanoseconds(pause_.count),
             [outbox = std::weak_ptr<Outbox>(outbox_)](bool rang) {
               const auto held = outbox.lock();
               if (rang && held) held->ReadOn();
             });
}

bool AgentStream::Queue(v1::CollectorMessage message) {
  const service::MutexLock lock(mutex_);
  if (finished_ || finish_with_ || queue_.size() >= kMaxQueuedRequestsPerStream) return false;
  queue_.push_back(std::move(message));
  WriteNextLocked();
  return true;
}

bool AgentStream::AwaitsDiskLocked() {
  const auto committed = [outbox = std::weak_ptr<Outbox>(outbox_)] {
    if (const auto held = outbox.lock()) held->Committed();
  };
  return (durable_ != nullptr && durable_->WhenDurable(awaited_.journaled, committed)) ||
         (ops_ != nullptr && ops_->WhenSettled(awaited_.stored, committed));
}

void AgentStream::AwaitLocked() {
  while (!awaits_ && to_acknowledge_ != taken_.number) {
    awaited_ = taken_;
    awaits_ = AwaitsDiskLocked();
    if (!awaits_) to_acknowledge_ = awaited_.number;
  }
}

void AgentStream::Committed() {
  const service::MutexLock lock(mutex_);
  awaits_ = AwaitsDiskLocked();  // the one is done, the other may not be
  if (awaits_) return;
  to_acknowledge_ = awaited_.number;
  AwaitLocked();
  WriteNextLocked();
}

void AgentStream::WriteNextLocked() {
  if (writing_ || finished_) return;
  if (queue_.empty() && acknowledged_ == to_acknowledge_) {
    if (finish_with_) FinishLocked(*finish_with_);
    return;
  }
  out_.Clear();
  if (!queue_.empty()) {
    out_ = std::move(queue_.front());
    queue_.pop_front();
  }
  acknowledged_ = to_acknowledge_;
  out_.set_acknowledged(acknowledged_);
  writing_ = true;
  StartWrite(&out_);
}

void AgentStream::OnWriteDone(bool ok) {
  const service::MutexLock lock(mutex_);
  writing_ = false;
  if (!ok) {
    FinishLocked(grpc::Status::OK);
    return;
  }
  WriteNextLocked();
}

void AgentStream::OnCancel() {
  const service::MutexLock lock(mutex_);
  FinishLocked(grpc::Status::CANCELLED);
}

void AgentStream::FinishLocked(const grpc::Status& status) {
  if (finished_) return;
  finished_ = true;
  Finish(status);
}

}  // namespace fathom::collector
