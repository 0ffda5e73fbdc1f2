// The past of fathom-cordon as the policy needs it: all records folded together.
//
// Owned by the actuator; rebuilt from the audit log at every start, so that a crash forgets
// nothing. Holds no clock and does no I/O.
//
// Memory: one Action for every key that ever was; closed ones are a few hundred bytes.
// Thread-safety: thread-compatible. Errors: none; a record that does not fit its action's phase is
// folded as it stands (the log is what happened).
#ifndef FATHOM_COLLECTOR_CORDON_POLICY_LEDGER_H_
#define FATHOM_COLLECTOR_CORDON_POLICY_LEDGER_H_

#include <deque>
#include <map>
#include <string>

#include "collector/cordon/policy/record.h"

namespace fathom::cordon {

enum class Phase : std::uint8_t {
  kObserved,
  kAdvised,
  kApproved,
  kActing,  // intended; whether it was done is not known
  kActed,
  kUndoing,
  kUndone,
  kRelinquished,
  kFailed,
  kWithdrawn,
};
std::string_view ToString(Phase phase);

struct Action {
  std::string id;
  std::string node, entity, cause, episode, job, mode, evidence;
  Phase phase = Phase::kObserved;
  std::string actor;  // who made the last step
  std::string text;   // why the last step
  WallNs changed;     // time of the last step
  WallNs intended;    // time of the last attempt
  WallNs approved;
  int failures = 0;
  bool was_approved = false;  // the attempt under way rests on a person's approval

  // fathom holds the node back, or may do so: counts against every cap.
  bool Holds() const {
    return phase == Phase::kActing || phase == Phase::kActed || phase == Phase::kUndoing;
  }
};

class Ledger {
 public:
  void Fold(const Record& record);

  const std::map<std::string, Action>& actions() const { return actions_; }
  const Action* Find(const std::string& id) const;
  const std::deque<WallNs>& attempts() const { return attempts_; }  // times of intended, ascending
  // When a person last undid what fathom did to the node; not known: never.
  WallNs LastOverride(const std::string& node) const;
  const std::string& paused() const { return paused_; }    // why; empty: it is not
  const std::string& tripped() const { return tripped_; }  // why; empty: it is not
  int failures_in_row() const { return failures_in_row_; }
  WallNs newest() const { return newest_; }

 private:
  void FoldWhole(const Record& record);
  void FoldAction(const Record& record, Action& action);

  std::map<std::string, Action> actions_;
  std::deque<WallNs> attempts_;
  std::map<std::string, WallNs> overrides_;  // by node
  std::string paused_, tripped_;
  int failures_in_row_ = 0;
  WallNs newest_;
};

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_POLICY_LEDGER_H_
