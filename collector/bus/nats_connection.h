// A connection to NATS with JetStream, and what its C library hands out, owned.
//
// Shared by NatsBus and NatsLeases. Open finds the stream of jobs and makes it where it is missing.
// A connection that breaks is made again for ever; meanwhile nothing goes out, and whoever has
// something to send sends it again.
//
// Model: one stream, kStream, of the subjects "fathom.job.JOB.KEY": the newest records of each
// subject are kept, on the disks of `replicas` servers, and of all at most `log_bytes`.
// Thread-safety: thread-safe. Threads: the library's own, and kThreads that call back. Ownership:
// outlives whoever uses it. Errors: Unavailable or FailedPrecondition, with the address and what to
// do. Source: nats.c 3.4 and nats-server 2.9, as Debian 12 has them.
#ifndef FATHOM_COLLECTOR_BUS_NATS_CONNECTION_H_
#define FATHOM_COLLECTOR_BUS_NATS_CONNECTION_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <nats/nats.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/service/mutex.h"

namespace fathom::collector {

struct NatsSettings {
  std::string urls;  // "nats://HOST:PORT", with commas
  std::string name;  // of this collector, for who looks at the server
  std::string credentials_file = {};
  std::string ca_file = {};  // of tls:// addresses; empty: the system's
  std::int64_t replicas = 1;
  std::int64_t log_bytes = std::int64_t{8} << 30;
  // A line for the log, from any thread; empty: nowhere.
  std::function<void(bool error, const std::string& line)> log = {};
};

template <typename T, void (*kDestroy)(T*)>
struct NatsDestroy {
  void operator()(T* object) const { kDestroy(object); }
};
using NatsMessage = std::unique_ptr<natsMsg, NatsDestroy<natsMsg, natsMsg_Destroy>>;
using NatsSubscription =
    std::unique_ptr<natsSubscription, NatsDestroy<natsSubscription, natsSubscription_Destroy>>;
using NatsContext = std::unique_ptr<jsCtx, NatsDestroy<jsCtx, jsCtx_Destroy>>;

// Stands as long as the message.
std::string_view BytesOf(natsMsg* message);

// A subject for answers, which nobody else has.
absl::StatusOr<std::string> NewInbox();

// What went wrong, in words. `code`: of JetStream; 0: none.
absl::Status NatsFailure(const std::string& what, natsStatus status, int code = 0);

class NatsConnection {
 public:
  static constexpr char kStream[] = "FATHOM";
  static constexpr int kThreads = 4;
  static constexpr std::int64_t kLeastPayload = 5 << 20;  // an agent's message has 4 MiB

  static absl::StatusOr<std::unique_ptr<NatsConnection>> Open(NatsSettings settings);
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  natsConnection* get() const { return connection_; }
  jsCtx* js() const { return js_.get(); }
  const NatsSettings& settings() const { return settings_; }
  bool connected() const { return connected_.load(); }
  std::uint64_t reconnects() const { return reconnects_.load(); }
  void Log(bool error, const std::string& line) const;

  // Called from the library's thread each time that the connection is back. Stays until RemoveBack.
  void AddBack(const void* whose, std::function<void()> back);
  void RemoveBack(const void* whose);

 private:
  explicit NatsConnection(NatsSettings settings) : settings_(std::move(settings)) {}
  absl::Status Connect();
  absl::Status SetOptions(natsOptions* options);
  absl::Status FindStream();
  absl::Status MakeStream();
  static void OnLost(natsConnection*, void* self);
  static void OnBack(natsConnection*, void* self);
  static void OnClosed(natsConnection*, void* self);

  const NatsSettings settings_;
  natsConnection* connection_ = nullptr;
  NatsContext js_;
  std::atomic<bool> connected_{false};
  std::atomic<std::uint64_t> reconnects_{0};
  service::Mutex mutex_;  // held while `back_` are called
  service::ConditionVariable closed_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;  // the library calls nothing any more
  std::vector<std::pair<const void*, std::function<void()>>> back_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_NATS_CONNECTION_H_
