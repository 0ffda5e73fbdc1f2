// One simulated agent's stream to the collector.
//
// Owned by Fleet. Model: messages are numbered and written one after the other, those that wait
// together once the collector takes them so, as an agent does; what the collector says goes to a
// listener, on gRPC's threads. Included by fleet.cc only (gRPC headers).
//
// Thread-safety: Send, Close from any thread. Errors: a stream that ends says so to the listener
// once; messages sent after that are thrown away.
#ifndef FATHOM_COLLECTOR_FLEET_AGENT_CALL_H_
#define FATHOM_COLLECTOR_FLEET_AGENT_CALL_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <functional>

#include "daemon/service/mutex.h"
#include "fathom/v1/agent.grpc.pb.h"

namespace fathom::simulate {

class AgentCall final : public grpc::ClientBidiReactor<v1::AgentMessage, v1::CollectorMessage> {
 public:
  struct Listener {
    // `confirmed`: messages that the collector has taken since the last time.
    std::function<void(const v1::CollectorMessage&, std::uint64_t confirmed)> heard;
    std::function<void(const grpc::Status&)> over;  // the last call
  };

  AgentCall(v1::AgentService::Stub& stub, Listener listener);

  void Send(v1::AgentMessage message);
  // No more messages; the collector ends the stream when it has read all.
  void Close();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  void WriteNextLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Listener listener_;
  grpc::ClientContext context_;
  v1::CollectorMessage in_;
  std::uint64_t confirmed_ = 0;  // reads only

  service::Mutex mutex_;
  v1::AgentMessage out_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::AgentMessage> queue_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t sent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool together_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_AGENT_CALL_H_
