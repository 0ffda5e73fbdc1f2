// What a collector of several does when it becomes the owner of a job, and when it is no more.
//
// Owned by Collector, called by cluster/Ownership. Model: the new owner raises the job's fence in
// the history, takes up the verdicts that stand there with their ids, and what was told of them;
// what was learnt of the job and its account come from the history with the first look, as after a
// restart. A history that does not answer is waited for, kHistoryPatience at most: without it the
// verdicts that stand would get ids anew. The former owner forgets the job: it closes nothing and
// tells nobody.
//
// Thread-safety: Ownership's thread only. Ownership: refers to its parts. Errors of Taken: Aborted
// where a later owner's fence stands, Unavailable while the history is waited for; the job is not
// taken then, and asked for again. Cost: reads of the history.
#ifndef FATHOM_COLLECTOR_SERVE_CLUSTER_DUTIES_H_
#define FATHOM_COLLECTOR_SERVE_CLUSTER_DUTIES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "collector/bus/leases.h"
#include "collector/cluster/cluster.h"
#include "collector/config/collector_config.h"
#include "collector/job/state/job_table.h"
#include "collector/notify/notifier.h"
#include "collector/process/clock.h"
#include "collector/serve/kept_outbox.h"
#include "collector/store/store.h"
#include "collector/verdict/verdict_ledger.h"

namespace fathom::collector {

class ClusterDuties {
 public:
  // Longer than Upkeep of a store lets pass between its tries.
  static constexpr Nanos kHistoryPatience{6'000'000'000};

  struct Parts {
    Store& store;
    JobTable& jobs;
    VerdictLedger& ledger;
    Notifier& notifier;
    KeptOutbox& outbox;
    std::function<void(const Episode& open)> tell;  // again: who has heard of it does not hear
    const Clock& clock;
  };

  explicit ClusterDuties(Parts parts) : parts_(std::move(parts)) {}

  absl::Status Taken(const std::string& job, Leases::Token token);
  void Lost(const std::string& job);

 private:
  // Of a fence that could not be raised: whether the job is taken all the same.
  absl::Status WithoutHistory(const std::string& job, absl::Status away);

  const Parts parts_;
  std::map<std::string, MonoNs> waits_;  // job, since when its history is waited for
};

// Starts what makes a collector one of several. `wires`: bus and leases in place of those that the
// settings name. Errors: which address, and what to do.
absl::StatusOr<std::unique_ptr<Cluster>> JoinCluster(const FinalizedCollectorConfig& config,
                                                     ClusterWires wires, Cluster::Parts parts);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_SERVE_CLUSTER_DUTIES_H_
