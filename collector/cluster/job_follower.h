// Takes in all that is said of one job on the bus, for its owner.
//
// Owned by Ownership for as long as this collector owns the job. Model: first the log from its
// oldest record on, then what comes, and beside it the words of the moment. When the log has been
// read, `caught_up` is called once, from the bus's thread. While old records are read, the job
// hears of them as of when they were told.
//
// Thread-safety: thread-safe. Ownership: refers to its parts. Errors: Start gives the reason; what
// cannot be read of the bus is left out and counted. Cost: as FarAgents.
#ifndef FATHOM_COLLECTOR_CLUSTER_JOB_FOLLOWER_H_
#define FATHOM_COLLECTOR_CLUSTER_JOB_FOLLOWER_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "collector/bus/bus.h"
#include "collector/cluster/cluster_counters.h"
#include "collector/cluster/far_agents.h"
#include "collector/job/state/job_table.h"

namespace fathom::collector {

class JobFollower {
 public:
  struct Parts {
    Bus& bus;
    FarAgents& agents;
    JobTable& jobs;
    ClusterCounters& counters;
  };

  static absl::StatusOr<std::unique_ptr<JobFollower>> Start(const Parts& parts, std::string job,
                                                            std::function<void()> caught_up);

  bool caught_up() const { return caught_up_; }
  std::uint64_t newest() const { return newest_; }  // sequence; 0: none
  std::uint64_t behind() const { return behind_; }  // records that are to be read yet
  std::uint64_t replayed() const { return replayed_; }
  // Where the job began anew: what is before it is of a former life. 0: it did not, since the last
  // call.
  std::uint64_t TakeAnew() { return anew_.exchange(0); }

 private:
  JobFollower(const Parts& parts, std::string job) : parts_(parts), job_(std::move(job)) {}
  void OnKept(const Bus::Kept& kept);
  void OnWord(std::string_view bytes);

  const Parts parts_;
  const std::string job_;
  std::atomic<bool> caught_up_{false};
  std::atomic<std::uint64_t> newest_{0}, behind_{0}, replayed_{0}, anew_{0};
  std::unique_ptr<Hearing> log_, words_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_JOB_FOLLOWER_H_
