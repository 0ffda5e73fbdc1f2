// Appends records to the stream, and knows which of them it keeps.
//
// Owned by NatsBus. Model: each record is published with a reply address that ends in its number;
// the server's answer says that it is kept. Numbers rise by 1, and what is durable is everything up
// to the first record without an answer. If an answer is no, or none comes within kPatience, and
// each time that the connection is back, all that is unanswered is sent again in its order: a
// record may so stand twice in a log, and whoever takes records in treats repeats as no-ops.
// Beyond Bus::kMaxWaitingBytes the oldest are given up (bus.h).
//
// Thread-safety: thread-safe; callbacks come from its thread, without its lock. Threads: one, which
// looks after what is unanswered. Errors: failing(). Cost: a copy of a record until it is answered.
#ifndef FATHOM_COLLECTOR_BUS_NATS_APPENDER_H_
#define FATHOM_COLLECTOR_BUS_NATS_APPENDER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "collector/bus/bus.h"
#include "collector/bus/nats_connection.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class NatsAppender {
 public:
  static constexpr std::chrono::milliseconds kPatience{2000};

  static absl::StatusOr<std::unique_ptr<NatsAppender>> Start(NatsConnection& connection);
  ~NatsAppender();

  std::uint64_t Append(std::string subject, std::string bytes);
  [[nodiscard]] bool WhenDurable(std::uint64_t record, std::function<void()> done);
  std::string failing() const;
  BusCounters counters() const;

 private:
  struct Waiting {
    std::string subject, bytes;
    bool answered = false;
  };

  explicit NatsAppender(NatsConnection& connection) : connection_(connection) {}
  static void OnAnswer(natsConnection*, natsSubscription*, natsMsg* message, void* self);
  void Answered(std::uint64_t number, const std::string& why);
  void Publish(std::uint64_t number, const Waiting& record);
  void Run();
  void SendAgainLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropAnsweredLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveUpLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  NatsConnection& connection_;
  std::string inbox_;
  NatsSubscription answers_;

  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::map<std::uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t appended_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t durable_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multimap<std::uint64_t, std::function<void()>> callers_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point progress_ ABSL_GUARDED_BY(mutex_) =
      std::chrono::steady_clock::now();         // when an answer came, or all was sent again
  bool again_ ABSL_GUARDED_BY(mutex_) = false;  // to be sent again at once
  std::string failing_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  BusCounters counters_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_NATS_APPENDER_H_
