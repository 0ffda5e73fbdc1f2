// The verdicts of all jobs: what stands, what is over, and who hears of a change.
//
// Fed by the diagnoser; read by the API, the report and the exporter. Every change goes to the
// listener in order (store, then subscribers of events) before the call returns.
//
// Thread-safety: thread-safe; the listener is called without the lock. Cost: O(verdicts of a job).
// Bounds: kMaxJobs jobs, each JobVerdicts::kMaxEpisodes; the job changed longest ago leaves first.
#ifndef FATHOM_COLLECTOR_VERDICT_VERDICT_LEDGER_H_
#define FATHOM_COLLECTOR_VERDICT_VERDICT_LEDGER_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collector/verdict/job_verdicts.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class VerdictLedger {
 public:
  using Listener = std::function<void(VerdictChange, const Episode&)>;
  static constexpr std::size_t kMaxJobs = 1024;
  static constexpr char kNotHeardOf[] = "its job was not heard of any more";

  explicit VerdictLedger(Listener listener) : listener_(std::move(listener)) {}

  // True: a verdict was opened.
  bool Update(const JobMoment& now, const diagnosis::Suspicion& suspicion,
              const diagnosis::Diagnosis* diagnosis);
  // A first sight: see JobVerdicts::Foresee.
  void Foresee(const JobMoment& now, const diagnosis::Diagnosis& ahead);
  // The job is over: see JobVerdicts::Conclude.
  void Conclude(const JobMoment& now, const diagnosis::Diagnosis& last);
  // See JobVerdicts::Explain.
  void Explain(std::string_view job, const std::string& id, const diagnosis::Detail& detail,
               WallNs wall, MonoNs mono);
  // See JobVerdicts::Prove.
  void Prove(const JobVerdicts::Prover& prover, WallNs wall, MonoNs mono);
  // See JobVerdicts::Stand and Withdraw.
  void Stand(const JobMoment& now, const diagnosis::Verdict& verdict);
  void Withdraw(const JobMoment& now, const std::string& because);
  void CloseAll(const JobMoment& now, const std::string& because);
  // The job began anew: what belongs to its former life leaves the report (the store keeps it).
  void Restart(const JobMoment& now);
  // Another collector tells of the job from now on: nothing is closed, nobody hears of it.
  void Forget(std::string_view job);
  // See JobVerdicts::Adopt.
  bool Adopt(const Episode& episode);
  // Closes what stands of jobs that nobody tells of: `known` says which jobs are. An episode that
  // was adopted, or whose job was forgotten, has no witness any more after `patience`.
  void CloseAbsent(WallNs wall, MonoNs mono, Nanos patience,
                   const std::function<bool(const std::string&)>& known);

  std::vector<Episode> Of(std::string_view job) const;  // open first, strongest first
  std::vector<Episode> Open() const;                    // of all jobs
  // A verdict on the job was seen once and opens when it is seen again, in other data unless it is
  // a hang.
  bool Waits(std::string_view job) const;

 private:
  void Tell(const Changes& changes) const;
  JobVerdicts& JobOf(const JobMoment& now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Listener listener_;
  struct Kept {
    JobVerdicts verdicts;
    MonoNs touched;
  };
  mutable service::Mutex mutex_;
  std::map<std::string, Kept, std::less<>> jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_VERDICT_VERDICT_LEDGER_H_
