// All jobs the collector knows, by name.
//
// Written by collector/ingest (jobs appear with their first rank), read by everybody. Bounded: at
// most `max_jobs`, and `max_ranks` over all of them; an ended job makes room for a new one, oldest
// first. What one agent may take of it is bounded too, so that the junk of one shuts nobody else
// out; a node without a name (files, tests) is not.
//
// Thread-safety: thread-safe (one lock for the map; each JobState has its own). Ownership: shared,
// so that a reader may finish with a job that was forgotten meanwhile.
// Errors: nothing where the bound is reached. Cost: O(log jobs); MakeRoom() O(jobs).
#ifndef FATHOM_COLLECTOR_JOB_STATE_JOB_TABLE_H_
#define FATHOM_COLLECTOR_JOB_STATE_JOB_TABLE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/job/state/job_state.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

struct JobLimits {
  std::size_t max_jobs = 256;
  std::size_t max_ranks = 200'000;
  std::size_t max_agent_jobs = 64;     // that run and that one node began
  std::size_t max_agent_ranks = 4096;  // of one node, in jobs that run
};

class JobTable {
 public:
  // `met` is called with each new job before anybody else sees it, without the lock; may be empty.
  JobTable(const Clock& clock, JobLimits limits, std::function<void(JobState& job)> met = {})
      : clock_(clock), limits_(limits), met_(std::move(met)) {}

  std::shared_ptr<JobState> Find(std::string_view name) const;
  // Nothing when full of running jobs, or of those that `node` began.
  std::shared_ptr<JobState> FindOrAdd(const std::string& name, const std::string& node = {});
  void Forget(std::string_view name);
  std::vector<std::shared_ptr<JobState>> All() const;  // by name
  // Ranks that may still be added for `node`. Where there is no room left, ended jobs are forgotten
  // for it, the oldest first.
  std::size_t MakeRoom(const std::string& node = {});
  // Whether another job and another rank of `node` would be taken, be it in the place of an ended
  // one.
  bool HasRoom(const std::string& node = {}) const;

 private:
  // Whether there is room for one more that `node` begins, be it in the place of an ended one.
  bool MayAdd(const std::string& node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool ForgetOldestEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::size_t Used() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::size_t JobsBegunBy(const std::string& node) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::size_t RoomOf(const std::string& node) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  const JobLimits limits_;
  const std::function<void(JobState& job)> met_;
  mutable service::Mutex mutex_;
  std::map<std::string, std::shared_ptr<JobState>, std::less<>> jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_STATE_JOB_TABLE_H_
