#include "collector/cli/remedy/recovery_history.h"

namespace fathom::cli {
namespace {

void FoldStep(const RecoveryRecord& record, StepLife& life) {
  switch (record.mark) {
    case Mark::kIntent:
      life.state = StepState::kInDoubt;
      life.begun_ns = record.wall_ns;
      life.before = record.facts;
      break;
    case Mark::kDone:
      life.state = StepState::kDone;
      life.done_ns = record.wall_ns;
      break;
    case Mark::kFailed:
      life.state = StepState::kNot;
      break;
    case Mark::kUndoIntent:
      life.state = StepState::kUndoInDoubt;
      break;
    case Mark::kUndone:
      life.state = StepState::kUndone;
      break;
    case Mark::kUndoFailed:
      life.state = StepState::kDone;
      break;
    default:
      break;
  }
}

}  // namespace

StepState Recovery::StateOf(Step step, int attempt) const {
  const auto at = steps.find({step, attempt});
  return at == steps.end() ? StepState::kNot : at->second.state;
}

void RecoveryHistory::Fold(const RecoveryRecord& record) {
  if (record.mark == Mark::kBegun) {
    Recovery begun;
    begun.id = record.id;
    begun.plan = record.facts;
    begun.begun_ns = record.wall_ns;
    all_.push_back(std::move(begun));
    return;
  }
  if (all_.empty() || all_.back().id != record.id) return;
  Recovery& last = all_.back();
  if (record.step != Step::kNone) FoldStep(record, last.steps[{record.step, record.attempt}]);
  if (record.mark == Mark::kUndoIntent) last.undoing = true;
  if (record.mark == Mark::kRunning) last.running_ns = record.wall_ns;
  if (record.mark == Mark::kWarm) last.warm_ns = record.wall_ns;
  if (record.mark == Mark::kStopped || record.mark == Mark::kFailed ||
      record.mark == Mark::kUndoFailed || record.mark == Mark::kEnded)
    last.said = record.text;
  if (record.mark == Mark::kEnded) {
    last.ended_ns = record.wall_ns;
    last.outcome = TextField(record.facts, "outcome");
  }
}

const Recovery* RecoveryHistory::Find(std::string_view id) const {
  for (auto at = all_.rbegin(); at != all_.rend(); ++at) {
    if (id.empty() || at->id == id) return &*at;
  }
  return nullptr;
}

}  // namespace fathom::cli
