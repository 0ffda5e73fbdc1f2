// Which jobs this collector owns: takes leases, renews them, stops in time, hands over.
//
// Owned by Cluster. Model: a job is free (nobody's lease stands), another's, or ours; ours is read
// until its log has been caught up with, and judged then. Of a free job the collector with the
// fewest jobs tries at once, the others a turn and a half later each; a lease that stands in our
// name, of before a restart or of a renewal given up too soon, is ours at once. One that could not
// be renewed for a term, less kMargin, is lost: the job is forgotten here, whatever the others do.
// Whoever keeps the history refuses what a former owner writes (Parts::taken gives it the token).
//
//   free ─ Take ─► reading ─ caught up ─► judged ─ lease lost, or handed over ─► another's
//
// Time: a monotonic clock; no clock of another machine is asked. Threads: one. Thread-safety:
// thread-safe. Ownership: refers to its parts. Errors: told to the log once a change; leases that
// cannot be asked for are asked for again. Cost: a turn every quarter of a term: one Refresh and a
// Renew for each job.
#ifndef FATHOM_COLLECTOR_CLUSTER_OWNERSHIP_H_
#define FATHOM_COLLECTOR_CLUSTER_OWNERSHIP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/bus/leases.h"
#include "collector/cluster/checkpoint_keeper.h"
#include "collector/cluster/cluster_counters.h"
#include "collector/cluster/job_follower.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class Ownership {
 public:
  static constexpr Nanos kMargin{500'000'000};
  static constexpr Nanos kHeardFor{3'000'000'000};
  // Turns that a collector waits for each other that has fewer jobs.
  static constexpr double kPatience = 1.5;
  // A job of which the log has nothing is forgotten after this.
  static constexpr Nanos kEmptyFor{60'000'000'000};

  struct Parts {
    Leases& leases;
    JobFollower::Parts follow;
    ClusterCounters& counters;
    const Clock& clock;
    // The lease is ours: before anything of the job is read. Not OK: the job is not taken.
    std::function<absl::Status(const std::string& job, Leases::Token token)> taken;
    std::function<void(const std::string& job)> caught_up;  // from any thread
    std::function<void(const std::string& job)> lost;
    std::function<void(const std::string& job)> over;  // its end was reported, or it never began
    // How many of the other collectors go first when a job is free.
    std::function<std::size_t(std::size_t jobs)> before_me;
    std::function<void(bool error, const std::string& line)> log;
  };

  explicit Ownership(Parts parts);
  ~Ownership();

  // An agent that is connected here tells of the job.
  void Heard(const std::string& job);
  // The job's end has been reported.
  void Ended(const std::string& job);
  // Whether the job may be judged here.
  bool Owns(const std::string& job) const;
  // For its checkpoint. Nothing: it is not ours, its log is not read yet, or it is over.
  std::optional<CheckpointKeeper::Place> PlaceOf(const std::string& job) const;
  // Takes no more jobs.
  void Close();
  // Gives all leases up, so that others go on at once. Requires: nothing writes any more.
  void HandOver();

  struct Figures {
    std::size_t jobs = 0;
    std::uint64_t behind = 0;  // records, of all jobs together
    double renewed_ago_s = 0;  // the oldest lease
    std::string failing;       // why the store of leases does not answer; empty: it does
  };
  Figures figures() const;

 private:
  struct Owned {
    Leases::Token token = 0;
    MonoNs renewed;      // when the last renewal that went well was asked for
    MonoNs begun;        // when it was taken
    bool ended = false;  // and to be closed
    bool closed = false;
    bool told = false;                      // that it has caught up
    std::unique_ptr<JobFollower> follower;  // never null
  };

  Nanos Turns() const { return Nanos(parts_.leases.term().count / 4); }  // between two of them
  void Run();
  void Stop();
  void Turn();
  void OpenHeard(MonoNs now);
  void RenewAll();
  void Contest(MonoNs now);
  void Take(const std::string& job, MonoNs now);
  void LookAfter(const std::string& job, Owned& owned);
  void CloseEnded(const std::string& job, Owned& owned);
  // Nothing of the job comes in any more. False: it was not owned.
  bool TakeOut(const std::string& job);
  void Drop(const std::string& job, const std::string& why);
  std::vector<std::string> Mine() const;
  void SetFailing(const absl::Status& status);

  Parts parts_;
  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::map<std::string, Owned> owned_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, MonoNs> heard_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, MonoNs> free_since_;  // of the thread only
  std::string failing_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_OWNERSHIP_H_
