// What makes a collector one of several: puts bus, leases, checkpoints, doors, ownership and the
// joined API together.
//
// Made by Collector where `cluster_bus` is set; absent otherwise, and then nothing of it costs
// anything. docs/operations/cluster.md, docs/design/0019-several-collectors.md.
//
//   agent ─ stream ─► DoorSession ─ log and words of the job ─► JobFollower ─► FarAgents ─► job
//         ◄─ stream ─ DoorTable ◄─ orders, by the door's name ─────────────────────┘ (the owner's)
//
// Start: bus and leases are there; nothing is owned yet. Drain: no more jobs are taken; what agents
// told is at the bus, or two seconds are over. HandOver: the last checkpoints are written and
// leases given up; requires that nothing judges any more. Threads: one that says every second who
// we are. Thread-safety: the public functions are. Ownership: refers to Parts, which outlive it.
// Errors: Start says what to do; of two collectors with one name it refuses the later.
#ifndef FATHOM_COLLECTOR_CLUSTER_CLUSTER_H_
#define FATHOM_COLLECTOR_CLUSTER_CLUSTER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/bus/bus.h"
#include "collector/bus/checkpoints.h"
#include "collector/bus/leases.h"
#include "collector/checkpoint/job_checkpoints.h"
#include "collector/cluster/checkpoint_keeper.h"
#include "collector/cluster/door_session.h"
#include "collector/cluster/door_table.h"
#include "collector/cluster/far_agents.h"
#include "collector/cluster/members.h"
#include "collector/cluster/ownership.h"
#include "collector/cluster/peer_api.h"
#include "collector/http/event_hub.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

// The bus, the leases and the checkpoints, and what they stand on.
struct ClusterWires {
  std::shared_ptr<void> ground = nullptr;  // a connection; outlives the others
  std::shared_ptr<Bus> bus = nullptr;
  std::shared_ptr<Leases> leases = nullptr;
  std::shared_ptr<Checkpoints> checkpoints = nullptr;
};

struct ClusterSettings {
  std::string name;
  std::size_t max_agent_jobs = 64;
};

class Cluster {
 public:
  struct Parts {
    IngestContext& ingest;
    EventHub& events;
    const Answerer& near;
    const Clock& clock;
    JobCheckpoints& checkpoints;  // of the jobs that are owned here
    // See Ownership::Parts. `checkpoint`: of the owner before; null: there is none.
    std::function<absl::Status(const std::string& job, Leases::Token token,
                               const v1::BusCheckpoint* checkpoint)>
        taken;
    std::function<void(const std::string& job)> caught_up;
    std::function<void(const std::string& job)> lost;
    std::function<void(bool error, const std::string& line)> log;
    // See PeerApi::Parts.
    std::function<absl::StatusOr<std::vector<KeptOps>>(const std::string& job)> kept_ops = {};
  };

  static absl::StatusOr<std::unique_ptr<Cluster>> Start(ClusterSettings settings,
                                                        ClusterWires wires, Parts parts);
  ~Cluster();

  const Answerer& api() const { return *api_; }
  bool Owns(const std::string& job) const { return ownership_ && ownership_->Owns(job); }
  void Ended(const std::string& job);
  void Drain();
  void HandOver();

  std::string failing() const;  // empty: all is well
  struct Figures {
    BusCounters bus;
    Ownership::Figures ownership;
    std::uint64_t checkpoint_bytes = 0;
    std::size_t members = 1;  // with this one
  };
  Figures figures() const;
  const ClusterCounters& counters() const { return counters_; }

 private:
  Cluster(ClusterSettings settings, ClusterWires wires, Parts parts);
  absl::Status Begin();
  void OpenDoor();
  absl::Status Hear(const std::string& topic, Bus::OnWord on_word);
  absl::Status HearOrders();
  absl::Status HearEvents();
  absl::Status HearProbes();
  Ownership::Parts OwnershipParts();
  absl::Status Taken(const std::string& job, Leases::Token token);
  void Say(bool leaves);
  void Run();

  const ClusterSettings settings_;
  const ClusterWires wires_;
  const Parts parts_;
  ClusterCounters counters_;
  IngestContext far_ingest_;  // as parts_.ingest; ops are kept by doors, not by owners
  DoorTable doors_;
  DoorContext door_;
  FarAgents far_;
  Members members_;
  std::unique_ptr<PeerApi> api_;
  std::vector<std::unique_ptr<Hearing>> hearings_;
  std::unique_ptr<CheckpointKeeper> checkpoints_;
  std::unique_ptr<Ownership> ownership_;
  service::Mutex mutex_;
  service::ConditionVariable wake_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_CLUSTER_H_
