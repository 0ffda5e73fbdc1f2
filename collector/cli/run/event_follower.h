// Keeps a subscription to a collector's events alive inside a poll loop.
//
// Used by `run`, `watch` and fathom-fleet. Model: Tick() when next_try() has come, Receive() when
// fd() is readable; a lost stream is taken up again after a back-off of 0.2 to 5 s. Connecting may
// take up to kConnectTimeout on a server that does not answer, everything else never waits. Times:
// std::chrono::steady_clock, passed in. Thread-safety: single-threaded. Errors: none; the last one
// is kept for whoever wants to tell.
#ifndef FATHOM_COLLECTOR_CLI_RUN_EVENT_FOLLOWER_H_
#define FATHOM_COLLECTOR_CLI_RUN_EVENT_FOLLOWER_H_

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/cli/http/event_stream.h"

namespace fathom::cli {

class EventFollower {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kConnectTimeout{500};

  EventFollower(HostPort server, std::string target)
      : server_(std::move(server)), target_(std::move(target)) {}

  // -1 while there is no stream.
  int fd() const { return stream_ ? stream_->fd() : -1; }
  bool connected() const { return stream_.has_value(); }
  // When to call Tick(); nothing while a stream stands.
  std::optional<Time> next_try() const;
  void Tick(Time now);
  std::vector<ServerEvent> Receive(Time now);
  const absl::Status& last_error() const { return last_error_; }

 private:
  void Lost(const absl::Status& why, Time now);

  HostPort server_;
  std::string target_;
  std::optional<EventSubscription> stream_;
  Time next_try_{};
  std::chrono::milliseconds back_off_{200};
  absl::Status last_error_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_EVENT_FOLLOWER_H_
