// The agents that the owner of a job hears over the bus, as if they were connected to it.
//
// Fed by JobFollower with records in their order. Model: for each node an AgentSession takes in
// what its door passed on; the way down to the agent is a word to that door. Another connection of
// a node ends the session of the one before, as another stream does where there is no cluster. A
// rank that is not known though the log tells of it (its announcement has left the log) makes the
// agent say again who takes part, once a connection.
//
// Thread-safety: thread-safe; of one node one record at a time. Ownership: refers to its parts.
// Errors: counted by the session. Cost: as AgentSession.
#ifndef FATHOM_COLLECTOR_CLUSTER_FAR_AGENTS_H_
#define FATHOM_COLLECTOR_CLUSTER_FAR_AGENTS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "collector/bus/bus.h"
#include "collector/cluster/cluster_counters.h"
#include "collector/ingest/agent_session.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/bus.pb.h"

namespace fathom::collector {

class FarAgents {
 public:
  FarAgents(IngestContext& ingest, Bus& bus, ClusterCounters& counters)
      : ingest_(ingest), bus_(bus), counters_(counters) {}

  // Where a record comes from: a log that is read again, the log as it goes on, or a word, which
  // may be ahead of the log.
  enum class From : std::uint8_t { kOldLog, kLog, kWord };

  // True: a new life of its job began with it.
  bool Take(const v1::BusRecord& record, From from);

 private:
  struct Agent {
    service::Mutex mutex;
    std::string door ABSL_GUARDED_BY(mutex);
    std::uint64_t connection ABSL_GUARDED_BY(mutex) = 0;
    std::shared_ptr<RowsChannel> channel ABSL_GUARDED_BY(mutex);
    std::unique_ptr<AgentSession> session ABSL_GUARDED_BY(mutex);  // null: it has left
    bool told_again ABSL_GUARDED_BY(mutex) = false;
  };

  std::shared_ptr<Agent> AgentOf(const std::string& node);
  void Connect(const v1::BusRecord& record, Agent& agent)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(agent.mutex);
  void AskAgain(const v1::BusRecord& record, Agent& agent)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(agent.mutex);

  IngestContext& ingest_;
  Bus& bus_;
  ClusterCounters& counters_;
  std::atomic<std::uint64_t> sessions_{0};
  service::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Agent>> agents_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_FAR_AGENTS_H_
