// Server-sent events: who listens, and what is on its way to each.
//
// Published to by the verdict ledger's listener and after each look at a job; each listener is one
// thread of HttpServer that waits in Subscription::Next. A listener that does not keep up (its
// queue of kMaxQueued is full) is dropped rather than slowing anybody down; a browser connects
// again by itself.
//
// Thread-safety: thread-safe. Ownership: a Subscription leaves the hub when destroyed; it must not
// outlive the hub. Bounds: max_subscribers × kMaxQueued events. Cost: Publish O(listeners).
#ifndef FATHOM_COLLECTOR_HTTP_EVENT_HUB_H_
#define FATHOM_COLLECTOR_HTTP_EVENT_HUB_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/service/mutex.h"

namespace fathom::collector {

class EventHub;

class Subscription {
 public:
  enum class Wake { kEvent, kIdle, kOver };

  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // Waits for the next event, at most `patience`. kOver: dropped, or the hub has stopped.
  Wake Next(std::chrono::milliseconds patience, std::string& text);

 private:
  friend class EventHub;
  Subscription(EventHub& hub, std::string job) : hub_(hub), job_(std::move(job)) {}

  EventHub& hub_;
  const std::string job_;  // empty: all jobs
  service::Mutex mutex_;
  service::ConditionVariable ready_;
  std::deque<std::shared_ptr<const std::string>> queue_ ABSL_GUARDED_BY(mutex_);
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
};

class EventHub {
 public:
  static constexpr std::size_t kMaxQueued = 256;

  explicit EventHub(std::size_t max_subscribers) : max_subscribers_(max_subscribers) {}

  // Nothing when there are too many already, or after Stop.
  std::unique_ptr<Subscription> Subscribe(const std::string& job);
  // `json` must hold no newline.
  void Publish(std::string_view type, std::string_view job, std::string_view json);
  // Only to who listens here: what another collector has published.
  void PublishHere(std::string_view type, std::string_view job, std::string_view json);
  void Stop();

  // Who listens elsewhere: `out` is told of what is published while `wanted` says that there is
  // somebody. Both thread-safe. Requires: before anything is published.
  using Out =
      std::function<void(std::string_view type, std::string_view job, std::string_view json)>;
  void Relay(Out out, std::function<bool()> wanted) {
    out_ = std::move(out);
    wanted_elsewhere_ = std::move(wanted);
  }
  // Whether anybody listens, here or elsewhere.
  bool wanted() const { return subscribers() > 0 || (wanted_elsewhere_ && wanted_elsewhere_()); }

  std::size_t subscribers() const;
  std::uint64_t dropped() const { return dropped_; }
  // One event as it goes over the wire.
  static std::string Format(std::string_view type, std::string_view json);

 private:
  friend class Subscription;
  void Leave(Subscription* subscription);

  const std::size_t max_subscribers_;
  Out out_;
  std::function<bool()> wanted_elsewhere_;
  mutable service::Mutex mutex_;
  std::set<Subscription*> subscriptions_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_EVENT_HUB_H_
