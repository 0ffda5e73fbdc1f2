#include "collector/cli/remedy/recovery_run.h"

#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr double kNs = 1e-9;

std::string Named(StepKey key) {
  return key.second > 1 ? Cat(Word(key.first), " ", key.second) : std::string(Word(key.first));
}

// Of a restart: another may be tried.
absl::Status AttemptFailed(const std::string& why) { return absl::DeadlineExceededError(why); }

}  // namespace

Remedy RemedyOf(const std::string& id, const Json& plan) {
  return {.id = id,
          .job = TextField(plan, "job"),
          .sick = TextField(plan, "isolate"),
          .spare = TextField(plan, "spare"),
          .checkpoint = TextField(ObjectField(plan, "checkpoint"), "path"),
          .sick_pids = IntsField(plan, "sick_pids")};
}

Remedy RecoveryRun::TheRemedy() const {
  const Recovery& now = *history_.Find();
  return RemedyOf(now.id, now.plan);
}

Deed RecoveryRun::DeedOf(StepKey key) const {
  const auto& steps = history_.Find()->steps;
  const auto at = steps.find(key);
  return {key.first, key.second, at == steps.end() ? Json::object() : at->second.before};
}

absl::Status RecoveryRun::Keep(const RecoveryRecord& record) {
  if (auto written = parts_.append(record); !written.ok()) return written;
  history_.Fold(record);
  return absl::OkStatus();
}

absl::Status RecoveryRun::Write(Mark mark, StepKey step, std::string text, Json facts) {
  return Keep({.mark = mark,
               .id = history_.Find()->id,
               .step = step.first,
               .attempt = step.second,
               .wall_ns = parts_.wall_ns(),
               .text = std::move(text),
               .facts = std::move(facts)});
}

absl::Status RecoveryRun::Begin(const std::string& id, const Json& plan) {
  return Keep({.mark = Mark::kBegun, .id = id, .wall_ns = parts_.wall_ns(), .facts = plan});
}

absl::Status RecoveryRun::Stop(const std::string& why) {
  if (auto written = Write(Mark::kStopped, {}, why); !written.ok()) return written;
  return absl::FailedPreconditionError(why);
}

// Empty: it may be done now.
std::string RecoveryRun::WhyNot(Step step) const {
  const auto verdicts = parts_.verdicts();
  if (!verdicts.ok())
    return Cat("the verdict cannot be read again, so nothing is done: ",
               Message(verdicts.status()));
  const Remedy remedy = TheRemedy();
  if (step == Step::kRestart) return WhyNotThere(*verdicts, remedy);
  const std::string why =
      WhyNotAnyMore(*verdicts, history_.Find()->Plan("verdict"), remedy, limits_.weak);
  return why.empty() ? WhyNotThere(*verdicts, remedy) : why;
}

// A deed of which the outcome is not on disk. `found`: what a person saw, who looked before this
// run.
absl::Status RecoveryRun::SettleDoubt(StepKey key, const std::string& found) {
  absl::StatusOr<Extent> was = parts_.backend.HowFar(TheRemedy(), DeedOf(key));
  if (!was.ok() && !found.empty()) {
    was = found == "done" ? Extent::kAll : found == "in-part" ? Extent::kPart : Extent::kNone;
  }
  if (!was.ok()) {
    return Stop(Cat("it is not known whether ", Named(key), " was done (", Message(was.status()),
                    "); look, then say so by --in-doubt done, in-part or not-done"));
  }
  // It stays in doubt: neither may it be taken for done, nor be forgotten by an undo.
  if (*was == Extent::kPart) {
    parts_.say(Cat(Named(key), " was done in part"));
    return absl::OkStatus();
  }
  return *was == Extent::kAll ? Write(Mark::kDone, key, "found done")
                              : Write(Mark::kFailed, key, "found not done");
}

absl::Status RecoveryRun::Act(StepKey key) {
  const Remedy remedy = TheRemedy();
  // Of a deed that was done in part, what was there before its first half.
  const bool in_part = history_.Find()->StateOf(key.first, key.second) == StepState::kInDoubt;
  absl::StatusOr<Json> before = DeedOf(key).before;
  if (!in_part) before = parts_.backend.Before(remedy, key.first);
  if (!before.ok()) return Stop(Cat(Named(key), ": ", Message(before.status())));
  // Looking took its time; the verdict is read last.
  if (const std::string why = WhyNot(key.first); !why.empty()) return Stop(why);
  if (auto written = Write(Mark::kIntent, key, "", *before); !written.ok()) return written;
  const auto done = parts_.backend.Do(remedy, {key.first, key.second, *before});
  if (done.ok()) {
    parts_.say(Cat(Named(key), ": ", *done));
    return Write(Mark::kDone, key, *done);
  }
  // A refusal to finish what was done in part leaves that part done.
  if (in_part || !NothingChanged(done.status())) {
    if (auto settled = SettleDoubt(key, ""); !settled.ok()) return settled;
    if (history_.Find()->StateOf(key.first, key.second) == StepState::kDone)
      return absl::OkStatus();
    return AttemptFailed(Cat(Named(key), " did not get done: ", Message(done.status())));
  }
  if (auto written = Write(Mark::kFailed, key, Message(done.status())); !written.ok())
    return written;
  return AttemptFailed(Cat(Named(key), ": ", Message(done.status())));
}

absl::Status RecoveryRun::Perform(Step step, int attempt) {
  const StepKey key{step, attempt};
  if (history_.Find()->StateOf(step, attempt) == StepState::kInDoubt) {
    if (auto settled = SettleDoubt(key, limits_.in_doubt); !settled.ok()) return settled;
  }
  if (history_.Find()->StateOf(step, attempt) == StepState::kDone) return absl::OkStatus();
  return Act(key);
}

absl::Status RecoveryRun::WaitUntilItRuns() {
  const std::int64_t until = parts_.wall_ns() + static_cast<std::int64_t>(limits_.restart_s / kNs);
  std::int64_t seen = -1;
  while (parts_.wall_ns() < until) {
    const auto job = parts_.job();
    const JobPace pace = job.ok() ? PaceOf(*job, TheRemedy()) : JobPace();
    if (pace.without_sick && seen >= 0 && pace.iteration > seen) return absl::OkStatus();
    seen = pace.without_sick ? pace.iteration : -1;
    if (!parts_.pause(limits_.look))
      return absl::CancelledError("asked to stop; fathom recover run goes on");
  }
  return AttemptFailed(
      Cat("no iteration without ", TheRemedy().sick, " within ", Seconds(limits_.restart_s)));
}

absl::Status RecoveryRun::WaitUntilItIsWarm() {
  const double usual = NumberField(history_.Find()->plan, "usual_s");
  const std::int64_t until = parts_.wall_ns() + static_cast<std::int64_t>(limits_.warm_s / kNs);
  JobPace pace;
  while (usual > 0) {
    const auto job = parts_.job();
    if (job.ok()) pace = PaceOf(*job, TheRemedy());
    if (pace.iteration_s > 0 && pace.iteration_s <= kWarm * usual)
      return Write(Mark::kWarm, {}, Cat(Seconds(pace.iteration_s), " an iteration"));
    if (parts_.wall_ns() >= until) break;
    if (!parts_.pause(limits_.look))
      return absl::CancelledError("asked to stop; fathom recover run goes on");
  }
  return absl::OkStatus();
}

absl::Status RecoveryRun::Finish() {
  if (history_.Find()->running_ns == 0) {
    if (auto written = Write(Mark::kRunning, {}, ""); !written.ok()) return written;
    parts_.say(Cat("the job runs without ", TheRemedy().sick));
  }
  if (auto warm = WaitUntilItIsWarm(); !warm.ok()) return warm;
  const bool usual = history_.Find()->warm_ns != 0;
  const bool known = NumberField(history_.Find()->plan, "usual_s") > 0;
  const std::string text =
      usual   ? "the job runs at its usual pace"
      : known ? Cat("the job runs, not yet at its usual pace after ", Seconds(limits_.warm_s))
              : std::string("the job runs; its usual pace is not known");
  parts_.say(text);
  return Write(Mark::kEnded, {}, text, {{"outcome", "recovered"}});
}

absl::Status RecoveryRun::GiveUp() {
  const std::string text = Cat("the restart failed twice; a person must look: ",
                               parts_.backend.ByHand(TheRemedy(), DeedOf({Step::kRestart, 1})));
  if (auto written = Write(Mark::kEnded, {}, text, {{"outcome", "given up"}}); !written.ok())
    return written;
  return absl::AbortedError(text);
}

absl::Status RecoveryRun::GoOn() {
  const Recovery& now = *history_.Find();
  if (now.undoing) return absl::FailedPreconditionError("it is being undone: fathom recover undo");
  if (now.running_ns != 0) return Finish();
  for (const Step step : {Step::kStandby, Step::kIsolate}) {
    if (auto done = Perform(step, 0); !done.ok()) return done;
  }
  const bool tried_again = now.steps.contains({Step::kRestart, kAttempts});
  for (int attempt = tried_again ? kAttempts : 1; attempt <= kAttempts; ++attempt) {
    absl::Status done = Perform(Step::kRestart, attempt);
    if (done.ok()) done = WaitUntilItRuns();
    if (done.ok()) return Finish();
    if (!absl::IsDeadlineExceeded(done)) return done;
    parts_.say(Message(done));
  }
  return GiveUp();
}

}  // namespace fathom::cli
