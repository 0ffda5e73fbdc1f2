// What the records of a journal say: each recovery, how far it is, and what is in doubt.
//
// Used by RecoveryRun, which folds each record that it writes, and by `recover show`. Model: the
// newest recovery of a job is the one that is gone on with or undone; a step is told by its kind
// and, of restarts, its attempt.
//
// Units: wall ns. Thread-safety: thread-compatible. Errors: none; a record of a recovery that was
// never begun is left out. Cost: O(records).
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_HISTORY_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_HISTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/cli/remedy/recovery_record.h"

namespace fathom::cli {

enum class StepState : std::uint8_t { kNot, kInDoubt, kDone, kUndoInDoubt, kUndone };

struct StepLife {
  StepState state = StepState::kNot;
  std::int64_t begun_ns = 0, done_ns = 0;
  Json before = Json::object();  // what the back-end saw before it acted
};

using StepKey = std::pair<Step, int>;

struct Recovery {
  std::string id;
  Json plan = Json::object();
  std::int64_t begun_ns = 0, running_ns = 0, warm_ns = 0, ended_ns = 0;
  std::map<StepKey, StepLife> steps;
  bool undoing = false;  // from the first undo on it is not gone on with
  std::string outcome;   // "recovered", "undone", "given up"; empty: under way
  std::string said;      // the newest text of a stop, a failure or the end

  bool under_way() const { return outcome.empty(); }
  StepState StateOf(Step step, int attempt) const;
  std::string Plan(const char* field) const { return TextField(plan, field); }
};

class RecoveryHistory {
 public:
  void Fold(const RecoveryRecord& record);
  const std::vector<Recovery>& all() const { return all_; }
  // The newest, or that of an id; nullptr: none.
  const Recovery* Find(std::string_view id = "") const;

 private:
  std::vector<Recovery> all_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_HISTORY_H_
