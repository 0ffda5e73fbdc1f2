// An agent's stream at its door: what it tells of a job goes to whoever owns the job.
//
// Made for each stream in place of an AgentSession where there is a cluster; it has one inside, for
// what is of the node: greeting, the agent's counters, health of node and hardware.
//
// Model: what must not be lost (ranks, groups, deaths, summaries, facts) is appended to the job's
// log, and acknowledged to the agent once the bus has it; what is of the moment (health, answers to
// orders) is told as words. The owner takes in both as if the agent were connected to it: whether a
// rank is the agent's, and whether there is room, the owner decides. Validation is the door's, so
// that nothing malformed reaches the bus. With a store of ops the door keeps what its agents tell
// of the jobs that are kept so, on its own disk and nowhere else, and acknowledges that once it is
// there: whoever owns the job has nothing to do with it, and its end loses nothing of it. Whose a
// rank is, a reader finds out (import/fathom/replay).
//
// Thread-safety: as stream_session.h. Ownership: refers to DoorContext. Errors: Outcome. Cost: a
// serialisation and a copy of each message.
#ifndef FATHOM_COLLECTOR_CLUSTER_DOOR_SESSION_H_
#define FATHOM_COLLECTOR_CLUSTER_DOOR_SESSION_H_

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "collector/bus/bus.h"
#include "collector/cluster/door_table.h"
#include "collector/ingest/agent_session.h"
#include "collector/ingest/kept_stream.h"
#include "collector/ingest/stream_session.h"
#include "collector/process/clock.h"
#include "fathom/v1/bus.pb.h"

namespace fathom::collector {

struct DoorContext {
  IngestContext& ingest;
  Bus& bus;
  DoorTable& doors;
  const Clock& clock;
  std::string name;           // of this collector
  std::size_t max_jobs = 64;  // that one stream may tell of
  // An agent told of this job. Cheap, thread-safe.
  std::function<void(const std::string& job)> heard;
};

class DoorSession final : public StreamSession {
 public:
  DoorSession(std::uint64_t id, DoorContext& context, std::weak_ptr<RowsChannel> channel,
              const Witness& witness);
  ~DoorSession() override;
  DoorSession(const DoorSession&) = delete;
  DoorSession& operator=(const DoorSession&) = delete;

  void Authenticate() override;
  Outcome OnMessage(const v1::AgentMessage& message) override;
  std::uint64_t acknowledged() const override { return acknowledged_; }
  std::uint64_t journaled() const override { return appended_; }
  std::uint64_t stored() const override { return kept_.record(); }
  std::size_t ranks() const override { return ranks_; }

 private:
  Outcome Greet(const v1::AgentMessage& message);
  Outcome OnSound(const v1::AgentMessage& message);
  Outcome Malformed(RejectReason reason);
  Outcome TakeOps(const v1::AgentMessage& message);
  void Append(const std::string& job, const std::string& key, const v1::AgentMessage& message);
  void TellWord(const std::string& topic, const v1::AgentMessage& message);
  void TellHealth(const v1::AgentMessage& message);
  // The record of this stream as bytes, told now. Null: its stream has ended.
  std::string Record(const v1::AgentMessage* message);
  // False: it may tell of no more jobs.
  [[nodiscard]] bool Admit(const std::string& job);

  DoorContext& context_;
  AgentSession near_;     // what is of the node
  KeptStream kept_;       // every op
  v1::BusRecord record_;  // of Record
  const std::shared_ptr<std::atomic<bool>> again_ = std::make_shared<std::atomic<bool>>(false);
  std::uint64_t connection_ = 0;
  std::set<std::string> jobs_, jobs_of_ops_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t appended_ = 0;
  std::size_t ranks_ = 0;
  int malformed_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_DOOR_SESSION_H_
