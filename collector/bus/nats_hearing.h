// Subscriptions of NatsBus, each as a Hearing: words, questions, and the log of a job.
//
// Made by NatsBus. Model: the library calls back from its own threads and may still do so while a
// subscription ends; what it calls is an Ear that outlives the subscription and is shut by the
// Hearing. A log is followed by an ephemeral consumer of the server, which a restart of that
// forgets: each time that the connection is back it is made anew, behind the newest record that was
// heard.
//
// Thread-safety: as bus.h. Threads: NatsAnswering has kWorkers of its own, for an answer may take
// its time. Ownership: a Hearing refers to the connection. Errors: Start gives the reason.
#ifndef FATHOM_COLLECTOR_BUS_NATS_HEARING_H_
#define FATHOM_COLLECTOR_BUS_NATS_HEARING_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/bus/bus.h"
#include "collector/bus/nats_connection.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

struct NatsEar {
  service::Mutex mutex;  // held while it is called
  bool open ABSL_GUARDED_BY(mutex) = true;
  std::function<void(natsMsg*)> call;  // set before anybody hears
};

// Words to a subject.
class NatsHearing final : public Hearing {
 public:
  static absl::StatusOr<std::unique_ptr<NatsHearing>> Start(NatsConnection& connection,
                                                            const std::string& subject,
                                                            std::function<void(natsMsg*)> call);
  ~NatsHearing() override;

 private:
  std::shared_ptr<NatsEar> ear_;
  NatsSubscription subscription_;
};

// Questions to a subject. The answer goes in parts that a message holds, the last of them marked.
class NatsAnswering final : public Hearing {
 public:
  static constexpr int kWorkers = 2;
  static constexpr std::size_t kPartBytes = 512u << 10;
  static constexpr char kMore = '+', kLast = '.';
  static constexpr std::size_t kMaxWaiting = 256;

  static absl::StatusOr<std::unique_ptr<NatsAnswering>> Start(NatsConnection& connection,
                                                              const std::string& subject,
                                                              Bus::OnAsked on_asked);
  ~NatsAnswering() override;

 private:
  struct Question {
    std::string reply, bytes;
  };

  NatsAnswering(NatsConnection& connection, Bus::OnAsked on_asked)
      : connection_(connection), on_asked_(std::move(on_asked)) {}
  void Take(natsMsg* message);
  void Work();
  void Reply(const Question& question, std::string_view answer);

  NatsConnection& connection_;
  const Bus::OnAsked on_asked_;
  service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::deque<Question> questions_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> workers_;
  std::unique_ptr<NatsHearing> hearing_;
};

// The log of a job.
class NatsFollowing final : public Hearing {
 public:
  static absl::StatusOr<std::unique_ptr<NatsFollowing>> Start(NatsConnection& connection,
                                                              std::string subject,
                                                              Bus::OnKept on_kept,
                                                              std::function<void()> caught_up);
  ~NatsFollowing() override;

 private:
  NatsFollowing(NatsConnection& connection, std::string subject, Bus::OnKept on_kept,
                std::function<void()> caught_up)
      : connection_(connection),
        subject_(std::move(subject)),
        on_kept_(std::move(on_kept)),
        caught_up_(std::move(caught_up)) {}
  absl::Status Subscribe();
  void Take(natsMsg* message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(ear_->mutex);
  void Run();
  void CaughtUpLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(ear_->mutex);

  NatsConnection& connection_;
  const std::string subject_;
  const Bus::OnKept on_kept_;
  const std::function<void()> caught_up_;
  const std::shared_ptr<NatsEar> ear_ = std::make_shared<NatsEar>();
  NatsSubscription subscription_;  // of Start, then of the thread

  std::uint64_t newest_ ABSL_GUARDED_BY(ear_->mutex) = 0;
  std::uint64_t heard_ ABSL_GUARDED_BY(ear_->mutex) = 0;  // records, by the present subscription
  // As many were there when it began; 0: not known.
  std::uint64_t until_ ABSL_GUARDED_BY(ear_->mutex) = 0;
  bool told_ ABSL_GUARDED_BY(ear_->mutex) = false;  // that it has caught up

  service::Mutex mutex_;
  service::ConditionVariable wake_;
  bool again_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_NATS_HEARING_H_
