// Keeps the checkpoints of the jobs that this collector owns on the bus, and reads that of a job
// which it takes.
//
// Owned by Cluster. Model: a job's checkpoint is what JobCheckpoints has of it, written by a thread
// of its own: at once where it is urgent, else kEvery after the last one, and once more before the
// leases are given up. What could not be written is tried again a second later. A former owner's
// is refused by the store of checkpoints (bus/checkpoints.h), and not tried again. One that would
// be above `most_bytes` goes without what matters least: first what receivers were told, then the
// run, the account, what was learnt, and of the verdicts those of the lowest grade; counted.
//
//   Store ─► JobCheckpoints ─► CheckpointKeeper ─► bus ─► Read, by the next owner ─► its Store
//
// Units: bytes. Threads: one. Thread-safety: thread-safe. Ownership: refers to its parts, which
// outlive it. Errors: counted (ClusterCounters); of Read: Aborted where a later owner's is there,
// Unavailable where the bus does not answer. Cost: some 10 KB a job each kEvery,
// more with many ranks and verdicts.
#ifndef FATHOM_COLLECTOR_CLUSTER_CHECKPOINT_KEEPER_H_
#define FATHOM_COLLECTOR_CLUSTER_CHECKPOINT_KEEPER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "collector/bus/checkpoints.h"
#include "collector/checkpoint/job_checkpoints.h"
#include "collector/cluster/cluster_counters.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

// Takes out of `memory` what matters least until it has no more than `most` bytes; counts it.
void FitCheckpoint(v1::JobMemory& memory, std::size_t most, ClusterCounters& counters);

class CheckpointKeeper {
 public:
  static constexpr Nanos kEvery{10'000'000'000};
  static constexpr std::size_t kMostBytes = 4u << 20;  // as an agent's message

  // Under which lease a job is owned here, and how far its log was taken in.
  struct Place {
    Leases::Token token = 0;
    std::uint64_t position = 0;
  };
  struct Parts {
    Checkpoints& kept;
    JobCheckpoints& jobs;
    ClusterCounters& counters;
    const Clock& clock;
    std::string name;  // of this collector
    // Nothing: the job is not owned here, or over.
    std::function<std::optional<Place>(const std::string& job)> place_of;
    std::size_t most_bytes = kMostBytes;
  };

  explicit CheckpointKeeper(Parts parts);
  ~CheckpointKeeper();
  CheckpointKeeper(const CheckpointKeeper&) = delete;
  CheckpointKeeper& operator=(const CheckpointKeeper&) = delete;

  // From now on they are written; once.
  void Start();
  // What the owner before had. Nothing: none is there, or none that can be read.
  absl::StatusOr<std::optional<v1::BusCheckpoint>> Read(const std::string& job,
                                                        Leases::Token token);
  // The job is over.
  void Forget(const std::string& job);
  // Writes all that changed, and nothing any more after that.
  void Stop();
  // Writes nothing any more, as where the process is killed.
  void End();

  std::uint64_t bytes() const;  // of the newest checkpoints of all jobs together

 private:
  struct Last {
    MonoNs when;
    Leases::Token refused = 0;  // under which a later owner's was met
    std::size_t bytes = 0;
  };
  void Run();
  // `all`: what changed, whenever it was written last.
  void Turn(bool all);
  absl::Status Write(const std::string& job, const Place& place, v1::JobMemory memory);

  const Parts parts_;
  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::map<std::string, Last> last_ ABSL_GUARDED_BY(mutex_);
  bool news_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_CHECKPOINT_KEEPER_H_
