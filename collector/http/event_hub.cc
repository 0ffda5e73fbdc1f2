#include "collector/http/event_hub.h"

namespace fathom::collector {

Subscription::~Subscription() { hub_.Leave(this); }

Subscription::Wake Subscription::Next(std::chrono::milliseconds patience, std::string& text) {
  service::MutexLock lock(mutex_);
  ready_.WaitFor(mutex_, patience, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return over_ || !queue_.empty();
  });
  if (over_) return Wake::kOver;
  if (queue_.empty()) return Wake::kIdle;
  text = *queue_.front();
  queue_.pop_front();
  return Wake::kEvent;
}

std::unique_ptr<Subscription> EventHub::Subscribe(const std::string& job) {
  const service::MutexLock lock(mutex_);
  if (stopped_ || subscriptions_.size() >= max_subscribers_) return nullptr;
  std::unique_ptr<Subscription> subscription(new Subscription(*this, job));
  subscriptions_.insert(subscription.get());
  return subscription;
}

void EventHub::Leave(Subscription* subscription) {
  const service::MutexLock lock(mutex_);
  subscriptions_.erase(subscription);
}

std::string EventHub::Format(std::string_view type, std::string_view json) {
  std::string text;
  text.append("event: ").append(type).append("\ndata: ").append(json).append("\n\n");
  return text;
}

void EventHub::Publish(std::string_view type, std::string_view job, std::string_view json) {
  if (wanted_elsewhere_ && wanted_elsewhere_()) out_(type, job, json);
  PublishHere(type, job, json);
}

void EventHub::PublishHere(std::string_view type, std::string_view job, std::string_view json) {
  const service::MutexLock lock(mutex_);
  if (subscriptions_.empty()) return;
  const auto text = std::make_shared<const std::string>(Format(type, json));
  for (Subscription* subscription : subscriptions_) {
    if (!subscription->job_.empty() && subscription->job_ != job) continue;
    const service::MutexLock queue_lock(subscription->mutex_);
    if (subscription->over_) continue;
    if (subscription->queue_.size() >= kMaxQueued) {
      subscription->over_ = true;
      ++dropped_;
    } else {
      subscription->queue_.push_back(text);
    }
    subscription->ready_.NotifyOne();
  }
}

void EventHub::Stop() {
  const service::MutexLock lock(mutex_);
  stopped_ = true;
  for (Subscription* subscription : subscriptions_) {
    const service::MutexLock queue_lock(subscription->mutex_);
    subscription->over_ = true;
    subscription->ready_.NotifyOne();
  }
}

std::size_t EventHub::subscribers() const {
  const service::MutexLock lock(mutex_);
  return subscriptions_.size();
}

}  // namespace fathom::collector
