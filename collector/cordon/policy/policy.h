// Decides what fathom-cordon does next. The whole of its judgement, and no I/O.
//
// Called by the actuator once a look, with everything it has learnt; returns steps, each a record
// to be written to the audit log and perhaps a change to a node, in order. The actuator writes the
// record first, then makes the change, then asks again; at most one action begins per look.
//
//   what stands in the way of new actions (pause, breaker, caps, a full disk) never stops an undo
//   an attempt whose answer was unclear counts as held until a later look settles it
//   a node that no longer carries our tag is a person's again, and is left alone for a while
//
// Clock domains: wall time in records and windows, monotonic time for ages and gaps; if the two
// drift apart by more than clock_jump_s between looks, the breaker trips.
// Thread-safety: thread-compatible. Errors: none; commands give FailedPrecondition or NotFound
// with a reason for the person who gave them. Cost: O(verdicts × (nodes + actions)) at worst.
#ifndef FATHOM_COLLECTOR_CORDON_POLICY_POLICY_H_
#define FATHOM_COLLECTOR_CORDON_POLICY_POLICY_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/cordon/policy/brakes.h"
#include "collector/cordon/policy/sightings.h"

namespace fathom::cordon {

struct Moment {
  WallNs wall;
  MonoNs mono;
};

struct Step {
  enum class Change : std::uint8_t { kNone, kHold, kRelease };
  Change change = Change::kNone;
  bool write = true;  // false: a change that its record announced before (an undo tried again)
  Record record;
};

// One line of a plan for people: what would happen to a verdict's node, or why nothing does.
struct Outlook {
  std::string action, node, entity, cause, episode, job, mode, phase, evidence;
  std::string hindrance;  // empty: it would begin now
};

class Policy {
 public:
  static constexpr int kMaxTries = 3;
  static constexpr Nanos kUndoRetry{5'000'000'000};

  explicit Policy(Limits limits) : limits_(std::move(limits)) {}

  std::vector<Step> Next(const Ledger& ledger, const View& view, Moment now);
  // What stands since the last look, for `fathom action plan`. Changes nothing.
  std::vector<Outlook> Outlooks(const Ledger& ledger, const View& view, WallNs now) const;
  void Use(Limits limits) { limits_ = std::move(limits); }

  // Whether what a record announces may still be done by what the collector says just now. Empty:
  // yes; else why not. Asked right before a node is changed.
  std::string WhyNotAnyMore(const Record& intended, const View& view) const;

  // Commands of people. `actor` is who; each gives the record to write.
  absl::StatusOr<Record> Approve(const Ledger& ledger, const std::string& action,
                                 const std::string& actor, WallNs now) const;
  absl::StatusOr<Record> Undo(const Ledger& ledger, const std::string& action,
                              const std::string& actor, WallNs now) const;

 private:
  void Settle(const Ledger& ledger, const View& view, Moment now, std::vector<Step>& steps);
  void SettleOne(const Action& action, const View& view, Moment now, std::vector<Step>& steps);
  void RetryUndo(const Action& action, Moment now, std::vector<Step>& steps);
  void WithdrawClosed(const Ledger& ledger, const View& view, Moment now,
                      std::vector<Step>& steps) const;
  void Trip(const Ledger& ledger, const View& view, Moment now, std::vector<Step>& steps);
  void Consider(const VerdictFact& verdict, const Scene& scene, std::vector<Step>& steps) const;
  // Writes once for each reason why a verdict that was seen for long enough leads to nothing.
  void ForgetDeclined(const View& view);
  [[nodiscard]] bool Decline(const VerdictFact& verdict, Moment now, std::vector<Step>& steps);
  // In words, of one that Willing() refuses.
  static std::string WhyUnwilling(const Action* known, Mode mode);
  bool Willing(const Action* action, Mode mode, WallNs now) const;

  Limits limits_;
  Sightings sightings_;
  std::map<std::string, MonoNs> undo_tried_;
  std::map<std::string, std::string> declined_;  // by action, why
  Moment last_;
};

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_POLICY_POLICY_H_
