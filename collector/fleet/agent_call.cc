#include "collector/fleet/agent_call.h"

#include <algorithm>
#include <utility>

namespace fathom::simulate {
namespace {

constexpr int kMostTogether = 64;  // behind the first, as of daemon/agent/uplink/outbox.h
constexpr std::size_t kBytesTogether = 32 * 1024;

}  // namespace

AgentCall::AgentCall(v1::AgentService::Stub& stub, Listener listener)
    : listener_(std::move(listener)) {
  stub.async()->Connect(&context_, this);
  AddHold();  // writes begin outside of gRPC's callbacks
  StartRead(&in_);
  StartCall();
}

void AgentCall::Send(v1::AgentMessage message) {
  const service::MutexLock lock(mutex_);
  if (closing_ || broken_) return;
  message.set_number(++sent_);
  queue_.push_back(std::move(message));
  WriteNextLocked();
}

void AgentCall::Close() {
  const service::MutexLock lock(mutex_);
  if (closing_) return;  // or it broke
  closing_ = true;
  WriteNextLocked();
  RemoveHold();
}

void AgentCall::WriteNextLocked() {
  if (writing_ || closed_) return;
  if (broken_) queue_.clear();
  if (!queue_.empty()) {
    out_ = std::move(queue_.front());
    queue_.pop_front();
    std::size_t bytes = out_.ByteSizeLong();
    while (together_ && !queue_.empty() && out_.more_size() < kMostTogether) {
      bytes += queue_.front().ByteSizeLong();
      if (bytes > kBytesTogether) break;
      *out_.add_more() = std::move(queue_.front());
      queue_.pop_front();
    }
    writing_ = true;
    StartWrite(&out_);
  } else if (closing_) {
    closed_ = true;
    StartWritesDone();
  }
}

void AgentCall::OnWriteDone(bool ok) {
  const service::MutexLock lock(mutex_);
  writing_ = false;
  broken_ = broken_ || !ok;
  WriteNextLocked();
}

void AgentCall::OnReadDone(bool ok) {
  if (!ok) {
    const service::MutexLock lock(mutex_);
    broken_ = true;
    // Nothing more is begun, so that the stream may be over.
    if (!std::exchange(closing_, true)) RemoveHold();
    return;
  }
  if (in_.has_hello() && in_.hello().takes_more()) {
    const service::MutexLock lock(mutex_);
    together_ = true;
  }
  const std::uint64_t before = std::exchange(confirmed_, std::max(confirmed_, in_.acknowledged()));
  listener_.heard(in_, confirmed_ - before);
  StartRead(&in_);
}

void AgentCall::OnDone(const grpc::Status& status) { listener_.over(status); }

}  // namespace fathom::simulate
