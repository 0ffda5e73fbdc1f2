// What a collector of several does when it becomes the owner of a job, and when it is no more.
//
// Owned by Collector, called by cluster/Ownership. Model: the new owner raises the job's fence in
// the history, hands its store what the owner before had put on the bus, and takes up the verdicts
// that stand with their ids, and what was told of them; what was learnt of the job, its account and
// its run come from the store as after a restart. Of the history and the bus the newer counts; a
// history that does not answer is not waited for. The former owner forgets the job: it closes
// nothing and tells nobody.
//
// Thread-safety: Ownership's thread only. Ownership: refers to its parts. Errors of Taken: Aborted
// where a later owner's fence stands; the job is not taken then, and asked for again. Cost: reads
// of the history.
#ifndef FATHOM_COLLECTOR_SERVE_CLUSTER_DUTIES_H_
#define FATHOM_COLLECTOR_SERVE_CLUSTER_DUTIES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "collector/bus/leases.h"
#include "collector/checkpoint/job_checkpoints.h"
#include "collector/cluster/cluster.h"
#include "collector/config/collector_config.h"
#include "collector/job/state/job_table.h"
#include "collector/notify/notifier.h"
#include "collector/serve/kept_outbox.h"
#include "collector/store/store.h"
#include "collector/verdict/verdict_ledger.h"

namespace fathom::collector {

class ClusterDuties {
 public:
  struct Parts {
    Store& store;
    JobTable& jobs;
    VerdictLedger& ledger;
    Notifier& notifier;
    KeptOutbox& outbox;
    std::function<void(const Episode& open)> tell;  // again: who has heard of it does not hear
    JobCheckpoints& checkpoints;
  };

  explicit ClusterDuties(Parts parts) : parts_(std::move(parts)) {}

  // `checkpoint`: of the owner before; null: there is none.
  absl::Status Taken(const std::string& job, Leases::Token token,
                     const v1::BusCheckpoint* checkpoint);
  void Lost(const std::string& job);

 private:
  const Parts parts_;
};

// Starts what makes a collector one of several. `wires`: bus and leases in place of those that the
// settings name. Errors: which address, and what to do.
absl::StatusOr<std::unique_ptr<Cluster>> JoinCluster(const FinalizedCollectorConfig& config,
                                                     ClusterWires wires, Cluster::Parts parts);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_SERVE_CLUSTER_DUTIES_H_
