// Looks at every job after something new came: Watch(), rows if it asks for them, Diagnose(), and
// the verdicts that follow.
//
// Owned by Collector, which gives it one thread (Run) and wakes it from ingest (Notify), and by
// Replay, which calls RunDue() itself. Read by the API and the exporter.
//
//   Notify ─► due (look_schedule) ─► Watch ─┬─ nothing ─► verdicts may close
//                                           ├─ suspicion ─► rows missing? ─► ask, wait ≤ 2 s
//                                           │               └─ Diagnose ─► verdicts
//                                           └─ an iteration short of it ─► the same ahead of time
//
// A verdict opens at its second sight, which must have data that the first had not, unless the job
// stands still. Where iterations are longer than the gap between looks that would cost a whole one:
// there a look ahead gives the first sight. It tells nobody, and has the rows of all slow
// iterations but the last at hand when that comes. What was seen when rows were asked for is judged
// when they are in, unless ranks are stalled.
//
// Of a job that is well the gap between looks may be longer, where the collector's budget wants it;
// one whose iterations rise or fail to come, or that loses a rank, is looked at as if there were
// none (docs/operations/budget.md).
//
// Looks at a job take a share of one core in the long run, so that a very large one cannot take the
// whole thread; what a quiet job leaves pays for looks that follow one another when something is
// wrong. Localisation time is measured from the first suspicion of an episode to the first verdict
// opened in it.
//
// Thread-safety: Notify, DiagnoseNow, Connected, calm_looks, latencies, turns and Stop from any
// thread; RunDue by one thread at a time. Time: injected; Run waits on real time. Errors: none;
// what is missing Diagnose() abstains on.
#ifndef FATHOM_COLLECTOR_EVALUATE_DIAGNOSER_H_
#define FATHOM_COLLECTOR_EVALUATE_DIAGNOSER_H_

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/agents/hardware_table.h"
#include "collector/agents/row_requests.h"
#include "collector/budget/centre_planner.h"
#include "collector/evaluate/look_schedule.h"
#include "collector/job/state/job_table.h"
#include "collector/job/summaries/histogram.h"
#include "collector/process/clock.h"
#include "collector/verdict/verdict_ledger.h"
#include "daemon/service/mutex.h"
#include "diagnosis/model/config.h"
#include "diagnosis/watch/watch.h"

namespace fathom::collector {

// The two entry points of the diagnosis library, injected.
struct DiagnosisFunctions {
  std::function<diagnosis::Suspicion(const diagnosis::JobView&, const diagnosis::DiagnosisConfig&)>
      watch;
  std::function<diagnosis::Diagnosis(const diagnosis::JobView&, const diagnosis::Suspicion&,
                                     const diagnosis::DiagnosisConfig&)>
      diagnose;
};

class Diagnoser {
 public:
  static constexpr Nanos kRowsTimeout{2'000'000'000};

  struct Parts {
    JobTable& jobs;
    SessionRegistry& registry;
    RowRequests& requests;
    VerdictLedger& ledger;
    const Clock& clock;
    // Called after each look at a job, e.g. to tell subscribers. May be empty.
    std::function<void(const JobState& job)> looked;
    // Called once when a job has ended, after its verdicts were closed. May be empty.
    std::function<void(const JobState& job)> ended;
    // What the nodes' hardware says. Null: nothing is known of it.
    const HardwareTable* hardware = nullptr;
    // Whether a job of the table may be judged here now. Empty: all may.
    std::function<bool(const std::string& job)> mine = {};
    // Called when a job that was looked at has left the table. May be empty.
    std::function<void(const std::string& job)> forgotten = {};
    // Where what looks cost is counted, and how often jobs that are well are looked at. Null: none.
    CentreWork* work = nullptr;
  };

  Diagnoser(Parts parts, DiagnosisFunctions functions, diagnosis::DiagnosisConfig config,
            Nanos job_timeout, const LookPace& pace = {});

  void Notify(const std::string& job);
  // Looks at every job that is due; when to come again.
  Nanos RunDue();
  void Run();  // until Stop()
  // How often Run has come around: it rests for little more than a gap at most, so one that stands
  // still for long hangs.
  std::uint64_t turns() const { return turns_; }
  void Stop();

  struct Fresh {
    diagnosis::JobView view;
    diagnosis::Diagnosis diagnosis;
  };
  // A fresh diagnosis for a report, from the rows at hand; changes nothing.
  Fresh DiagnoseNow(const JobState& job) const;

  struct Latencies {
    LatencyHistogram localization;  // suspicion → verdict
    LatencyHistogram look;          // one look, whatever it did
  };
  Latencies latencies() const;

  // Of the jobs that were well when they were last looked at.
  std::vector<CalmLook> calm_looks() const;

  NodeConnected Connected() const;

 private:
  // What a look saw, and what it asks about.
  struct Sight {
    diagnosis::JobView view;
    diagnosis::Suspicion suspicion;
    bool ahead = false;  // of time: see diagnosis::LookingAhead
  };
  // How much a diagnosis was made of.
  struct Evidence {
    Iteration newest{-1};
    std::size_t reports = 0, ops = 0;
    friend bool operator==(const Evidence&, const Evidence&) = default;
  };
  struct Watched {
    LookSchedule schedule;
    LookFindings findings = {};  // of the last look
    bool news = false;
    MonoNs suspected = {};  // since when; not known: not suspicious
    bool localized = false;
    MonoNs rows_deadline = {};            // not known: not waiting for rows
    std::optional<Sight> asked_for = {};  // by the look that waits for rows
    Evidence judged = {};                 // by the last diagnosis
    // What the last look ahead was made of, without rows: made of the same it would say the same.
    std::optional<Evidence> foreseen = {};
    diagnosis::Episode ahead = {};  // whose rows a look ahead asked for
    MonoNs paths_looked = {};       // not known: never
    bool path_differs = false;      // by that look
    int paths_alike = 0;            // looks in a row that found no difference
    CalmLook calm = {};             // the last look, where the job was well before and after it
    std::uint32_t incarnation = 0;
    bool ended = false;
  };

  Watched& WatchedOf(const JobState& job);
  // Something that is worth a look soon, although no single iteration is beyond what is usual.
  bool Shows(const JobState::Progress& progress) const;
  LookReasons ReasonsFor(const JobState& job, const Watched& watched);
  // How long the job may wait after it was looked at, if it was due.
  Nanos LookIfDue(const std::shared_ptr<JobState>& job, Watched& watched);
  void Look(const std::shared_ptr<JobState>& job, Watched& watched);
  void LookAtRunning(const std::shared_ptr<JobState>& job, Watched& watched,
                     const JobMoment& moment);
  Sight See(JobState& job, Watched& watched, JobMoment moment);
  bool AwaitsRows(const JobState& job, const Watched& watched);
  // Rows were asked for, and are to be waited for.
  bool AskForRows(const std::shared_ptr<JobState>& job, const diagnosis::RowsWanted& wanted,
                  Watched& watched);
  void Judge(JobState& job, Sight sight, Watched& watched, JobMoment moment);
  // What the ranks sent each other: of a slow job before and since; else lately. Once a view.
  void AskFlows(const diagnosis::Suspicion& suspicion, diagnosis::JobView& view) const;
  // Whether a path of a job that is not slow against its past differs from the others.
  void LookAtPaths(Sight& sight, Watched& watched, const JobMoment& moment) const;
  // Puts what the hardware of the accused says into their verdicts, and names those who are held
  // back where it says why.
  void AskHardware(const diagnosis::JobView& view, diagnosis::Diagnosis& diagnosis) const;
  void TellShedding(diagnosis::JobView& view) const;
  static Evidence EvidenceOf(const diagnosis::JobView& view);
  void Localize(JobState& job, const Sight& sight, const diagnosis::Diagnosis& diagnosis,
                Watched& watched, JobMoment moment);

  Parts parts_;
  std::atomic<std::uint64_t> turns_{0};
  const DiagnosisFunctions functions_;
  const diagnosis::DiagnosisConfig config_;
  const diagnosis::DiagnosisConfig ahead_;  // the same for a look ahead
  const Nanos job_timeout_;
  const LookPace pace_;
  std::map<std::string, Watched> watched_;  // RunDue's thread only

  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::set<std::string> news_ ABSL_GUARDED_BY(mutex_);
  Latencies latencies_ ABSL_GUARDED_BY(mutex_);
  std::vector<CalmLook> calm_looks_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_DIAGNOSER_H_
