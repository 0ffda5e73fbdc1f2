// Keeps the history of runs: samples what is healthy of each running job, keeps it in the store,
// and holds each run against earlier ones of its profile.
//
// Owned by Collector; called by the diagnoser's thread after each look at a job and at its end.
// Read by the API.
//
//   iterations ─► healthy? ─► RunSample ─► at the end of a stretch: JudgeRun against the store
//                                             slower ─► a verdict stands on the job, told at once
//                                             not any more ─► it is withdrawn
//
// Model: a run is one life of a job (a restart begins another). Iterations while the job is slow,
// stands still, or some rank is convicted are sick: they are no history; those before it became
// slow are. A run that is slower than its history, or was starved of cores, is kept and listed, and
// no later one is held against it. A job in which somebody is convicted has its culprit: no verdict
// stands beside that. Stretches: 50 and 300 iterations, then all of it at 1,000, 3,000, 10,000 … A
// run is compared once its profile is known; a run that is like none says so. After a restart of
// the collector a run goes on from what the store has of it.
//
// Units: iterations of the job; wall time for display. Thread-safety: Looked, Ended and SaveAll by
// one thread at a time; RunOf from any. Errors: of the store, which counts and shows them. Cost: a
// look O(new iterations × ranks, at most 1,024); a write of some 4 KB each kEvery a job; a
// comparison reads kMaxRunsOfProfile records, a few times in a run.
#ifndef FATHOM_COLLECTOR_RUNS_RUN_KEEPER_H_
#define FATHOM_COLLECTOR_RUNS_RUN_KEEPER_H_

#include <map>
#include <string>
#include <vector>

#include "collector/budget/centre_work.h"
#include "collector/job/state/job_state.h"
#include "collector/process/clock.h"
#include "collector/store/store.h"
#include "collector/verdict/verdict_ledger.h"
#include "daemon/service/mutex.h"
#include "diagnosis/history/run_sample.h"

namespace fathom::collector {

class RunKeeper {
 public:
  static constexpr Nanos kEvery{10'000'000'000};
  static constexpr std::size_t kMostEnded = 256;

  struct Parts {
    Store& store;
    VerdictLedger& ledger;
    const Clock& clock;
    CentreWork* work = nullptr;  // where what it costs is counted; may be null
  };
  explicit RunKeeper(Parts parts) : parts_(parts) {}

  void Looked(const JobState& job);
  void Ended(const JobState& job);
  // Another collector keeps its run from now on.
  void Forget(const std::string& job);
  // Before the store is closed.
  void SaveAll();

  // Of a job that runs or has ended lately, the newest. Id empty: none.
  RunRecord RunOf(const std::string& job) const;

 private:
  struct Kept {
    RunRecord record;
    diagnosis::RunSample sample;
    std::uint32_t incarnation = 0;
    std::int64_t next_mark = diagnosis::RunSample::kFirst;
    bool stands = false;  // a verdict of ours
    MonoNs saved;
  };

  Kept Begin(const JobFigures& figures) const;
  void Take(const JobState& job, const JobFigures& figures, Kept& kept) const;
  bool Convicted(const JobFigures& figures) const;
  void CompareIfDue(const JobFigures& figures, Kept& kept);
  void Tell(const JobFigures& figures, const diagnosis::RunJudgement& judgement,
            const std::vector<RunRecord>& earlier, Kept& kept);
  void Save(Kept& kept);

  const Parts parts_;
  mutable service::Mutex mutex_;
  std::map<std::string, Kept> kept_ ABSL_GUARDED_BY(mutex_);
  // Of jobs, for their reports; at most kMostEnded.
  std::map<std::string, RunRecord> ended_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RUNS_RUN_KEEPER_H_
