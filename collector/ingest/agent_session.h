// One agent's stream, as a state machine over messages: no transport in it.
//
// Driven by AgentService (gRPC), by tests and by the fuzzer. First comes a valid Hello, then
// anything; what is invalid is dropped and counted, the stream goes on; after
// kMaxRejectsPerStream malformed messages, or without a Hello, the stream is closed. Nothing a peer
// sends reaches further than its own stream and the jobs its node has announced, and the node is
// one for which its witness may speak.
//
// Thread-safety: single-threaded, one message at a time; the parts it calls are thread-safe.
// Ownership: refers to IngestContext, which outlives it. Errors: Outcome. Cost: O(message).
#ifndef FATHOM_COLLECTOR_INGEST_AGENT_SESSION_H_
#define FATHOM_COLLECTOR_INGEST_AGENT_SESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/admission/witness.h"
#include "collector/agents/capture_requests.h"
#include "collector/agents/hardware_table.h"
#include "collector/agents/ingest_counters.h"
#include "collector/agents/probe_requests.h"
#include "collector/agents/row_requests.h"
#include "collector/agents/session_registry.h"
#include "collector/ingest/kept_stream.h"
#include "collector/ingest/stream_session.h"
#include "collector/job/state/job_table.h"
#include "collector/journal/durable_log.h"
#include "fathom/v1/job.pb.h"

namespace fathom::v1 {
class AgentMessage;
class CaptureReply;
class Hello;
class HealthBatch;
class OpsBlock;
class SummaryBatch;
}  // namespace fathom::v1

namespace fathom::collector {

class CentreWork;
class Journal;
class OpStore;

inline constexpr std::uint32_t kProtocolVersion = 1;

struct IngestContext {
  JobTable& jobs;
  SessionRegistry& registry;
  RowRequests& requests;
  IngestCounters& counters;
  // Something worth a look happened to the job. Thread-safe, cheap.
  std::function<void(const std::string& job)> on_change;
  // Told once a stream, in words, when a bound refused what it brought. May be empty.
  std::function<void(const std::string& what)> on_refused = {};
  // Takes in captures of stacks. Null: nobody asks for any.
  CaptureRequests* captures = nullptr;
  // Keeps what is taken in. Null: memory alone does, and acknowledged means taken in.
  Journal* journal = nullptr;
  // Takes in what the nodes' hardware says. Null: nobody asks for it.
  HardwareTable* hardware = nullptr;
  // Keeps every op of the jobs that it names. Null: none are kept.
  OpStore* ops = nullptr;
  // Takes in what probes that were ordered found. Null: nobody orders any.
  ProbeRequests* probes = nullptr;
  // Where what it costs is counted. Null: nowhere.
  CentreWork* work = nullptr;
  // What agents tell is durable once this log says so. Null: the journal.
  DurableLog* durable = nullptr;
  // Makes what a stream drives. Empty: an AgentSession.
  std::function<std::unique_ptr<StreamSession>(std::uint64_t id, std::weak_ptr<RowsChannel> channel,
                                               Witness witness)>
      make_session = {};
};

class AgentSession final : public StreamSession {
 public:
  static constexpr std::size_t kMostRanksCounted = 4096;

  // What became of the last message.
  struct Last {
    Rejection unwanted = {};  // sound, and yet not taken in
    bool anew = false;        // a new life of its job began with it
  };

  AgentSession(std::uint64_t id, IngestContext& context, std::weak_ptr<RowsChannel> channel,
               Witness witness = {});
  ~AgentSession() override;
  void Authenticate() override { authenticated_ = true; }
  AgentSession(const AgentSession&) = delete;
  AgentSession& operator=(const AgentSession&) = delete;

  Outcome OnMessage(const v1::AgentMessage& message) override;
  std::uint64_t acknowledged() const override { return acknowledged_; }
  std::uint64_t journaled() const override { return journaled_; }
  std::uint64_t stored() const override { return kept_.record(); }
  const std::string& node() const { return node_; }  // empty before Hello
  std::size_t ranks() const override { return ranks_; }
  const Last& last() const { return last_; }

 private:
  Outcome Greet(const v1::AgentMessage& message);
  Rejection Take(const v1::AgentMessage& message);
  Rejection TakeCapture(const v1::CaptureReply& reply);
  Rejection TakeRank(const v1::RankInfo& info);
  Rejection TakeSummary(const v1::AgentMessage& message);
  Rejection TakeHealth(const v1::HealthBatch& batch);
  Rejection TakeOps(const v1::AgentMessage& message);
  void Keep(const v1::AgentMessage& message, bool anew, std::int64_t newest);
  Rejection KeptIfTaken(const v1::AgentMessage& message, Rejection rejected,
                        const std::string& job);
  Rejection StoredIfTaken(const v1::AgentMessage& message, Rejection rejected,
                          const std::string& job);
  // Something of the job came in.
  void Took(const std::string& name, JobState* job);
  template <typename Message>
  Rejection TakeForJob(const Message& message);
  Outcome Malformed(RejectReason reason);
  // Of a rank that was another's when it was announced: it may be this node's by now.
  void AnnounceAgain(const std::string& job, std::uint32_t rank);
  void NoteForeign(const v1::RankInfo& info, const Rejection& rejected);
  void TellFull(const v1::RankInfo& info, const std::string& bound);

  const std::uint64_t id_;
  IngestContext& context_;
  const std::weak_ptr<RowsChannel> channel_;
  const Witness witness_;
  KeptStream kept_;
  std::string node_, boot_id_;
  bool authenticated_ = false;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t journaled_ = 0;
  std::size_t ranks_ = 0;
  Last last_;
  int malformed_ = 0;
  bool refused_ = false;    // an announcement, for want of room
  bool told_full_ = false;  // that a bound refused a rank
  std::map<std::pair<std::string, std::uint32_t>, v1::RankInfo> foreign_;  // refused as not owner's
  bool tell_again_ = false;  // what was refused meanwhile: on a new stream the agent does
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_AGENT_SESSION_H_
