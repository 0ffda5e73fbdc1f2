// The agent's stream to the collector: connects, keeps trying, sends the outbox, takes requests.
//
// Made by agent; fed through its Outbox, heard through TakeRequests. docs/formats/stream.md.
//
// Model: one thread owns the connection: wait for the channel, open Connect, write what the outbox
// hands out; a second one reads while the stream is up. Whatever goes wrong ends the stream; the
// next try comes after a back-off with jitter. That there is no collector is said once, and once
// more when it is back; training never notices. A collector that refuses the agent is left alone
// for `refused_wait`. Of several collectors, which share what agents tell them, it connects to one;
// when that is gone, or refuses the agent, it tries the next at once. With TLS the collector must
// show a certificate of its authority that names the host of `target`; files that change are taken
// within ten seconds. Before each try the way is chosen anew (way_to_collector): a collector of
// this machine is reached by its unix socket.
//
// Units: ns. Thread-safety: thread-safe.
// Ownership: owns its threads and channel; `outbox` must outlive it. Stop (or the destructor) joins
//   all.
// Errors: never reported upwards, see connected() and streams().
// Cost: two threads that sleep; one message is copied once into gRPC.
#ifndef FATHOM_DAEMON_AGENT_UPLINK_COLLECTOR_LINK_H_
#define FATHOM_DAEMON_AGENT_UPLINK_COLLECTOR_LINK_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/agent/uplink/backoff.h"
#include "daemon/agent/uplink/outbox.h"
#include "daemon/service/mutex.h"
#include "daemon/service/tls_files.h"
#include "fathom/v1/agent.grpc.pb.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

struct LinkSettings {
  std::string target = "127.0.0.1:7071";  // of several, with commas
  service::TlsFiles tls{};                // with peer_ca_file: TLS
  Nanos first_backoff = Nanos::FromSeconds(0.1);
  Nanos max_backoff = Nanos::FromSeconds(10);
  Nanos refused_wait = Nanos::FromSeconds(60);
  std::uint32_t jitter_seed = 1;
  std::size_t max_requests = 64;  // of each kind, that wait for the poll loop
};

class CollectorLink {
 public:
  // Requires: `outbox` outlives the link.
  CollectorLink(LinkSettings settings, v1::Hello hello, Outbox& outbox);
  CollectorLink(const CollectorLink&) = delete;
  CollectorLink& operator=(const CollectorLink&) = delete;
  ~CollectorLink();

  void Start();
  // Sends what is left for at most `linger`, then closes. Idempotent.
  void Stop(std::chrono::milliseconds linger);

  // Requests for rows that came since the last call.
  std::vector<v1::RowsRequest> TakeRequests();
  // And for windows of detail.
  std::vector<v1::WindowRequest> TakeWindowRequests();
  // For sources to switch, and for stacks.
  std::vector<v1::TraceOrder> TakeTraceOrders();
  std::vector<v1::StackRequest> TakeStackRequests();
  std::vector<v1::CaptureRequest> TakeCaptureRequests();
  std::vector<v1::ProbeOrder> TakeProbeOrders();

  // Names of the jobs whose ops the collector wants all the time, as its newest hello has them;
  // nothing: they are as they were at the last call.
  [[nodiscard]] std::optional<std::vector<std::string>> TakeStreamOps();

  bool connected() const { return connected_.load(); }
  std::uint64_t streams() const { return streams_.load(); }
  std::uint64_t requests_dropped() const { return requests_dropped_.load(); }

 private:
  using Stream = grpc::ClientReaderWriter<v1::AgentMessage, v1::CollectorMessage>;

  void Run();
  [[nodiscard]] bool PrepareChannel();
  // Turns to the next collector. False: all have been tried since one was good.
  bool TurnToNext(bool good);
  [[nodiscard]] bool WaitForChannel();
  [[nodiscard]] bool RunStream();  // true if the collector said hello
  void ReadLoop(Stream& stream);
  void TakeMessage(const v1::CollectorMessage& message);
  template <typename Request>
  void Keep(const Request& request, std::vector<Request>& waiting)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SayMissing(const std::string& why);
  bool Sleep(Nanos time);  // false when stopped

  const LinkSettings settings_;
  const std::vector<std::string> targets_;  // at least one
  const v1::Hello hello_;
  Outbox& outbox_;
  std::size_t at_ = 0;     // in targets_
  std::size_t tried_ = 0;  // since one was good
  std::string way_;        // of channel_
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
  std::thread thread_;

  service::Mutex mutex_;
  service::ConditionVariable stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* open_context_ ABSL_GUARDED_BY(mutex_) = nullptr;  // of the stream that is up
  std::vector<v1::RowsRequest> requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::WindowRequest> windows_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::TraceOrder> switches_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::StackRequest> stacks_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::CaptureRequest> captures_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::vector<std::string>> stream_ops_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::ProbeOrder> probes_ ABSL_GUARDED_BY(mutex_);

  std::atomic<bool> said_missing_{false};
  std::atomic<bool> refused_{false};
  std::atomic<bool> greeted_{false};
  std::atomic<bool> ended_{false};  // nothing more comes on the stream
  std::atomic<bool> connected_{false};
  std::atomic<std::uint64_t> streams_{0};
  std::atomic<std::uint64_t> requests_dropped_{0};
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_UPLINK_COLLECTOR_LINK_H_
