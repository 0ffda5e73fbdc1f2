// One agent's gRPC stream: reads feed a StreamSession, writes carry acknowledgements and requests.
// A message that holds others is taken in as if each had come by itself.
// What was taken in is acknowledged once the durable log (the journal, or the bus of several
// collectors) and the store of ops, where there are such, have it on the disk.
//
// Made by AgentService for each call, deletes itself when gRPC says it is done. Included by
// agent_service.cc only (gRPC headers).
//
// Thread-safety: gRPC's callbacks for one direction come one at a time; Send comes from any thread.
// Ownership: the outbox is shared with the registry and cut off when the stream is over.
// Errors: a stream that fails ends; the agent connects again. Cost: one message each way in flight.
#ifndef FATHOM_COLLECTOR_INGEST_AGENT_STREAM_H_
#define FATHOM_COLLECTOR_INGEST_AGENT_STREAM_H_

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "collector/ingest/agent_budget.h"
#include "collector/ingest/agent_session.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/agent.grpc.pb.h"

namespace fathom::collector {

class AgentStream;

// The streams that live, for who counts them and who ends the silent ones. Thread-safe.
class AgentStreams {
 public:
  // `rate`: messages a second that are read of one without a pause (agent_budget.h).
  explicit AgentStreams(double rate) : rate_(rate) {}

  double rate() const { return rate_; }
  void Add(AgentStream* stream);
  void Remove(AgentStream* stream);
  std::size_t size() const;
  // How many were ended.
  std::size_t EndUngreeted(std::chrono::steady_clock::time_point born);

 private:
  const double rate_;
  mutable service::Mutex mutex_;  // a stream's own is taken after it
  std::unordered_set<AgentStream*> streams_ ABSL_GUARDED_BY(mutex_);
};

class AgentStream final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::CollectorMessage> {
 public:
  AgentStream(std::uint64_t id, IngestContext& context, Witness witness, std::string version,
              AgentStreams& streams);
  ~AgentStream() override;
  void Authenticate() { session_->Authenticate(); }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

  // Ends the stream if it began before `born` and has not said Hello; whether it was so.
  bool EndUngreeted(std::chrono::steady_clock::time_point born);

 private:
  // What the registry holds of a stream: stays when the stream is gone, and says no then.
  class Outbox final : public RowsChannel {
   public:
    explicit Outbox(AgentStream* stream) : stream_(stream) {}
    bool Pass(v1::CollectorMessage message) override;
    void Committed();  // what the stream awaits is on the disk
    void ReadOn();     // the pause is over
    void Detach();

   private:
    service::Mutex mutex_;
    AgentStream* stream_ ABSL_GUARDED_BY(mutex_);
  };

  // What may be acknowledged once these records of the durable log and the store of ops are kept.
  struct Taken {
    std::uint64_t number = 0, journaled = 0, stored = 0;
  };

  bool Queue(v1::CollectorMessage message);
  void Committed();
  // Of what was read, one after the other; the outcome of the last that was taken in.
  StreamSession::Outcome TakeAll();
  void ReadNext();
  void AwaitLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] bool AwaitsDiskLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteNextLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishLocked(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Greet(const std::string& refused);

  const std::shared_ptr<Outbox> outbox_;
  DurableLog* const durable_;                     // null: what is taken in is acknowledged
  OpStore* const ops_;                            // null: no ops are wanted all the time
  const std::unique_ptr<StreamSession> session_;  // reads only
  IngestCounters& counters_;
  AgentBudget budget_;  // reads only
  grpc::Alarm alarm_;   // ends a pause
  const std::string version_;
  AgentStreams& streams_;
  const std::chrono::steady_clock::time_point born_ = std::chrono::steady_clock::now();
  v1::AgentMessage in_;
  Nanos pause_;  // before the next read; reads only

  service::Mutex mutex_;
  v1::CollectorMessage out_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::CollectorMessage> queue_ ABSL_GUARDED_BY(mutex_);
  Taken taken_ ABSL_GUARDED_BY(mutex_);          // of all that was read
  Taken awaited_ ABSL_GUARDED_BY(mutex_);        // of it, what is written now
  bool awaits_ ABSL_GUARDED_BY(mutex_) = false;  // until told that it is
  std::uint64_t to_acknowledge_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  bool greeted_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> finish_with_ ABSL_GUARDED_BY(mutex_);  // once the queue is empty
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_AGENT_STREAM_H_
