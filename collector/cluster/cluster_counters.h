// What the parts of a cluster's collector count, for /metrics.
//
// Thread-safety: atomics. docs/metrics.md names what is made of them.
#ifndef FATHOM_COLLECTOR_CLUSTER_CLUSTER_COUNTERS_H_
#define FATHOM_COLLECTOR_CLUSTER_CLUSTER_COUNTERS_H_

#include <atomic>
#include <cstdint>

namespace fathom::collector {

struct ClusterCounters {
  using Counter = std::atomic<std::uint64_t>;

  Counter taken{0};           // leases of jobs
  Counter lost{0};            // leases that could not be renewed
  Counter handed_over{0};     // leases that were given up at the end
  Counter replayed{0};        // records that were read when a job was taken
  Counter records{0};         // all that were read
  Counter later{0};           // messages of a later version: left out
  Counter damaged{0};         // messages that are none: left out
  Counter orders{0};          // sent to agents that are connected elsewhere
  Counter announce_again{0};  // agents that were asked to say again who takes part
  Counter forwarded{0};       // requests that another collector answered
  Counter unanswered{0};      // requests that another collector was to answer, and did not

  Counter checkpoints_kept{0};     // that the bus has
  Counter checkpoints_refused{0};  // of jobs that have a later owner
  Counter checkpoints_failed{0};   // that the bus did not take; tried again
  Counter checkpoints_read{0};     // of jobs that were taken
  // What checkpoints that would be too large went without.
  Counter left_out_told{0}, left_out_run{0}, left_out_account{0}, left_out_learnt{0},
      left_out_verdicts{0};
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_CLUSTER_COUNTERS_H_
