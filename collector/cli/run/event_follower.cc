#include "collector/cli/run/event_follower.h"

#include <algorithm>

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kFirstBackOff{200};
constexpr std::chrono::milliseconds kLongestBackOff{5000};

}  // namespace

std::optional<EventFollower::Time> EventFollower::next_try() const {
  if (stream_) return std::nullopt;
  return next_try_;
}

void EventFollower::Tick(Time now) {
  if (stream_ || now < next_try_) return;
  absl::StatusOr<EventSubscription> stream =
      EventSubscription::Open(server_, target_, In(kConnectTimeout));
  if (!stream.ok()) return Lost(stream.status(), now);
  stream_.emplace(*std::move(stream));
}

std::vector<ServerEvent> EventFollower::Receive(Time now) {
  if (!stream_) return {};
  absl::StatusOr<std::vector<ServerEvent>> events = stream_->Receive();
  if (!events.ok()) {
    Lost(events.status(), now);
    return {};
  }
  if (!events->empty()) back_off_ = kFirstBackOff;
  return *std::move(events);
}

void EventFollower::Lost(const absl::Status& why, Time now) {
  stream_.reset();
  last_error_ = why;
  next_try_ = now + back_off_;
  back_off_ = std::min(back_off_ * 2, kLongestBackOff);
}

}  // namespace fathom::cli
