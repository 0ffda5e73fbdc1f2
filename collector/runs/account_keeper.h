// Keeps the account of each running job: what all of its iterations lost so far, and to whom.
//
// Owned by Collector; called by the diagnoser's thread after each look at a job and at its end.
// Read by the API (report, page, `fathom get ledger`) and by the exporter.
//
//   settled iterations ─► IterationAccountant ─► whose? the verdict that stands on the rank or
//                                                communicator, else the rank or communicator itself
//                                              ─► RunningAccount ─► store
//
// Model: each iteration is counted once, when nothing more of it is to come (SummaryWindow::
// SettledAfter). While a verdict on a hang stands, the time since it began is counted for all ranks
// as the time passes; the iteration in which it lies is counted without that much when it ends.
// A restart goes on with the same account, unless the job had ended: then it begins a new one.
// After a restart of the collector it goes on
// from what the store has, behind the newest iteration that was counted, as far as it is the same
// start of the job; so none is counted twice, and after a kill what the last kEvery cost may be
// missing unless the journal still holds its iterations.
//
// Units: GPU-seconds; wall time of the iterations. Thread-safety: Looked, Ended and SaveAll by one
// thread at a time; Of from any. Errors: of the store, which counts and shows them.
// Cost: a look O(new iterations × ranks); a write of some 10 KB each kEvery a job.
#ifndef FATHOM_COLLECTOR_RUNS_ACCOUNT_KEEPER_H_
#define FATHOM_COLLECTOR_RUNS_ACCOUNT_KEEPER_H_

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/budget/centre_work.h"
#include "collector/export/job_ledger_proto.h"
#include "collector/job/state/job_state.h"
#include "collector/process/clock.h"
#include "collector/store/store.h"
#include "collector/verdict/verdict_ledger.h"
#include "daemon/service/mutex.h"
#include "diagnosis/ledger/running/iteration_account.h"
#include "diagnosis/ledger/running/running_account.h"

namespace fathom::collector {

class AccountKeeper {
 public:
  static constexpr Nanos kEvery{2'000'000'000};
  static constexpr std::size_t kMostEnded = 256;
  static constexpr std::size_t kMostMembers = 64;  // of an entity, that are listed

  struct Parts {
    Store& store;
    const VerdictLedger& ledger;
    const Clock& clock;
    CentreWork* work = nullptr;  // where what it costs is counted; may be null
  };
  explicit AccountKeeper(Parts parts) : parts_(parts) {}

  void Looked(const JobState& job);
  void Ended(const JobState& job);
  // Another collector counts it from now on.
  void Forget(const std::string& job);
  // Before the store is closed.
  void SaveAll();

  // Of a job that runs or has ended lately. Nothing: no iteration of it was counted.
  std::optional<diagnosis::RunningAccount::State> Of(const std::string& job) const;

 private:
  struct Kept {
    diagnosis::RunningAccount account;
    diagnosis::IterationAccountant accountant;
    std::uint32_t incarnation = 0;
    std::int64_t counted = -1;  // the newest iteration
    WallNs started, through;
    WallNs resumed;  // what began until then an earlier collector has counted
    std::string hang;
    double hung_s = 0;  // below 0: its iteration is counted
    MonoNs saved;
    bool changed = false;
  };
  struct Fresh;
  const diagnosis::RunningAccount::State* FindEnded(const std::string& job) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetEnded(const std::string& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Kept Begin(const JobFigures& figures) const;
  void Take(const JobState& job, const JobFigures& figures, Kept& kept) const;
  void Count(const JobState& job, diagnosis::IterationSummary iteration, const Fresh& fresh,
             Kept& kept) const;
  void CountHang(const JobFigures& figures, const std::vector<Episode>& episodes, Kept& kept) const;
  void Save(const std::string& job, Kept& kept);

  const Parts parts_;
  mutable service::Mutex mutex_;
  std::map<std::string, Kept> kept_ ABSL_GUARDED_BY(mutex_);
  // Oldest first.
  std::deque<std::pair<std::string, diagnosis::RunningAccount::State>> ended_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RUNS_ACCOUNT_KEEPER_H_
