// What a collector of several does when it becomes the owner of a job, and when it is no more.
//
// Owned by Collector, called by cluster/Ownership. Model: the new owner raises the job's fence in
// the history, takes up the verdicts that stand there with their ids, and what was told of them;
// what was learnt of the job and its account come from the history with the first look, as after a
// restart. The former owner forgets the job: it closes nothing and tells nobody.
//
// Thread-safety: thread-safe, as its parts. Ownership: refers to them. Errors: Aborted where a
// later owner's fence stands. Cost: reads of the history.
#ifndef FATHOM_COLLECTOR_SERVE_CLUSTER_DUTIES_H_
#define FATHOM_COLLECTOR_SERVE_CLUSTER_DUTIES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "collector/bus/leases.h"
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
  };

  explicit ClusterDuties(Parts parts) : parts_(std::move(parts)) {}

  absl::Status Taken(const std::string& job, Leases::Token token);
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
