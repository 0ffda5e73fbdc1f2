// The part of RecoveryRun that takes back what was done.
#include <array>

#include "collector/cli/remedy/recovery_run.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {

// `not_undone` grows by what stays, and why.
absl::Status RecoveryRun::UndoStep(StepKey key, std::string* not_undone) {
  const StepState state = history_.Find()->StateOf(key.first, key.second);
  if (state == StepState::kInDoubt) {
    if (auto settled = SettleDoubt(key, limits_.in_doubt); !settled.ok()) return settled;
  }
  // What is still in doubt was done in part.
  const StepState settled = history_.Find()->StateOf(key.first, key.second);
  if (settled == StepState::kNot || settled == StepState::kUndone) return absl::OkStatus();
  if (auto written = Write(Mark::kUndoIntent, key, ""); !written.ok()) return written;
  const auto undone = parts_.backend.Undo(TheRemedy(), DeedOf(key));
  const std::string what(Word(key.first));
  if (undone.ok()) {
    parts_.say(Cat("undo of ", what, ": ", *undone));
    return Write(Mark::kUndone, key, *undone);
  }
  const std::string why = Cat(what, ": ", Message(undone.status()));
  if (!NothingChanged(undone.status())) return undone.status();
  AppendTo(not_undone, not_undone->empty() ? "" : "; ", why);
  return Write(Mark::kUndoFailed, key, why);
}

absl::Status RecoveryRun::Undo() {
  const Recovery& now = *history_.Find();
  if (now.outcome == "undone") return absl::FailedPreconditionError("it is undone already");
  const auto job = parts_.job();
  const StepState isolated = now.StateOf(Step::kIsolate, 0);
  const bool left = isolated != StepState::kNot && isolated != StepState::kUndone;
  if (now.running_ns != 0 || (left && job.ok() && PaceOf(*job, TheRemedy()).without_sick)) {
    return absl::FailedPreconditionError(
        Cat("the job runs without ", TheRemedy().sick,
            "; to move it back would cost it another restart, which is nobody's undo. By hand: ",
            parts_.backend.ByHand(TheRemedy(), DeedOf({Step::kIsolate, 0}))));
  }
  std::string not_undone;
  constexpr std::array<StepKey, 4> kLastFirst = {
      StepKey{Step::kRestart, 2}, {Step::kRestart, 1}, {Step::kIsolate, 0}, {Step::kStandby, 0}};
  for (const StepKey& key : kLastFirst) {
    if (auto undone = UndoStep(key, &not_undone); !undone.ok()) return undone;
  }
  if (not_undone.empty())
    return Write(Mark::kEnded, {}, "all that was done is undone", {{"outcome", "undone"}});
  if (auto written = Write(Mark::kEnded, {}, not_undone, {{"outcome", "given up"}}); !written.ok())
    return written;
  return absl::FailedPreconditionError(Cat("not undone: ", not_undone));
}

}  // namespace fathom::cli
