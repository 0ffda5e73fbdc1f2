// Takes a sick node out of a job and waits until the job runs without it: a plan, done step by
// step.
//
// Made by `recover run` and `recover undo` around the journal's history and a back-end. The only
// place where a plan becomes a deed:
//
//   read the verdict ─► intent on disk ─► back-end ─► outcome on disk     (each of the three steps)
//     closed, another culprit, weaker: stopped ┘          └ not known: the next run asks it
//   wait for the first iteration without the sick node ─► for the usual pace ─► ended: recovered
//     not within its time: a second restart, then given up, and what a person should do
//
// A step that is done is never done again; one in doubt (its intent has no outcome) is asked about
// first, and where the back-end cannot tell, a person must (Limits::in_doubt). Undo takes back what
// was done, the last first; a job that runs on is not moved back. From `isolate` on the job stands
// still by our own hand, so that its verdict may close: a restart asks only that no verdict names
// the spare.
//
// Thread-safety: single-threaded. Ownership: refers to Parts::backend. Errors: OK when recovered or
// undone; FailedPrecondition (stopped, and why), DeadlineExceeded (a step was refused and changed
// nothing), Aborted (given up), ResourceExhausted (the journal cannot be written: nothing was
// done), Cancelled (asked to stop; to be gone on with). Members lie in recovery_run.cc and
// recovery_undo.cc. Cost: waiting looks once a Limits::look.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_RUN_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_RUN_H_

#include <chrono>
#include <functional>
#include <string>

#include "collector/cli/remedy/recovery_history.h"
#include "collector/cli/remedy/remedy_backend.h"
#include "collector/cli/remedy/still_wanted.h"

namespace fathom::cli {

// Of what PlanFacts made.
Remedy RemedyOf(const std::string& id, const Json& plan);

class RecoveryRun {
 public:
  struct Parts {
    RemedyBackend& backend;
    std::function<absl::StatusOr<Json>()> verdicts;  // of the job, the open ones
    std::function<absl::StatusOr<Json>()> job;
    std::function<absl::Status(const RecoveryRecord&)> append;
    std::function<std::int64_t()> wall_ns;
    std::function<bool(std::chrono::milliseconds)> pause;  // false: somebody wants to stop
    std::function<void(const std::string&)> say;
  };
  struct Limits {
    bool weak = false;  // a verdict of any grade will do
    // "done", "in-part", "not-done": what a person found of the step that was in doubt before this
    // run; empty: nobody looked.
    std::string in_doubt;
    double restart_s = 540;
    double warm_s = 120;
    std::chrono::milliseconds look{500};
  };

  static constexpr int kAttempts = 2;
  static constexpr double kWarm = 1.2;  // of the usual pace

  RecoveryRun(RecoveryHistory history, Parts parts, Limits limits)
      : history_(std::move(history)), parts_(std::move(parts)), limits_(std::move(limits)) {}

  // Requires: none is under way. `plan`: what PlanFacts made.
  absl::Status Begin(const std::string& id, const Json& plan);
  // Requires: one is under way.
  absl::Status GoOn();
  absl::Status Undo();

  const RecoveryHistory& history() const { return history_; }

 private:
  absl::Status Write(Mark mark, StepKey step, std::string text, Json facts = Json::object());
  absl::Status Stop(const std::string& why);
  absl::Status Perform(Step step, int attempt);
  absl::Status SettleDoubt(StepKey key, const std::string& found);
  absl::Status Act(StepKey key);
  std::string WhyNot(Step step) const;
  absl::Status WaitUntilItRuns();
  absl::Status WaitUntilItIsWarm();
  absl::Status Finish();
  absl::Status GiveUp();
  absl::Status UndoStep(StepKey key, std::string* not_undone);
  absl::Status Keep(const RecoveryRecord& record);
  Remedy TheRemedy() const;
  Deed DeedOf(StepKey key) const;

  RecoveryHistory history_;
  const Parts parts_;
  const Limits limits_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_RUN_H_
