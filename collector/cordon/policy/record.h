// One line of the audit log, which is also the only memory of fathom-cordon: what it knows of its
// own past is these records folded together (policy/ledger.h).
//
// Made by the policy and by people's commands; written before anything is done to a node.
//
//   observed ─ what would have been done            (mode observe; final while the mode stays)
//   advised ─┬─ approved ─┬─ intended ─┬─ done ─┬─ undo_intended ─ undone
//            │            │            │        └─ relinquished: a person changed it
//            │            │            └─ failed: nothing was changed
//            │            └─ approval_expired → advised again
//            └─ withdrawn: the verdict is over
//   declined: nothing is done though it was seen for long enough, for it cannot be trusted: its job
//             does not run, an agent of it is anybody's, or it was not seen of late; told once for
//             each reason, and changes no phase
//   paused, resumed, tripped, reset: about the whole
//
// Units: wall time in ns since the epoch. Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_CORDON_POLICY_RECORD_H_
#define FATHOM_COLLECTOR_CORDON_POLICY_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/cordon/policy/facts.h"
#include "proto/types/time_units.h"

namespace fathom::cordon {

inline constexpr char kOwnName[] = "fathom-cordon";  // the actor of what nobody asked for

enum class RecordKind : std::uint8_t {
  kObserved,
  kAdvised,
  kApproved,
  kApprovalExpired,
  kWithdrawn,
  kIntended,
  kDone,
  kFailed,
  kUndoIntended,
  kUndone,
  kRelinquished,
  kPaused,
  kResumed,
  kTripped,
  kReset,
  kDeclined,
};
std::string_view ToString(RecordKind kind);
// False: no such kind.
[[nodiscard]] bool ParseRecordKind(std::string_view text, RecordKind& out);

struct Record {
  RecordKind kind = RecordKind::kObserved;
  WallNs time;
  std::string action;  // id; empty for records about the whole
  // The key of the action: (node, entity, cause, episode).
  std::string node, entity, cause, episode;
  std::string job;
  std::string mode;
  std::string actor;     // "fathom-cordon", or the person whose token it was
  std::string text;      // why
  std::string evidence;  // the verdict's sentence
  std::string before;    // the node's note and state when it was looked at
  std::string after;
};

// The id of the action for a verdict: a pure function of its key, so that there is one for ever.
std::string ActionId(const VerdictFact& verdict);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_POLICY_RECORD_H_
