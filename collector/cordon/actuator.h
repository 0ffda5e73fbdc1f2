// The loop of fathom-cordon: looks, asks the policy, writes the log, tells people, changes nodes.
//
// Made by main around the ledger that the audit log gave; Look() is called once a poll, commands
// come from the API's threads. The only place where a decision becomes a deed:
//
//   look ─ advice, nodes ─► Policy::Next ─► before-notice ─► advice ─► record on disk ─► back-end
//              the verdict is over, or not to be trusted: declined ┘    └─ cannot be written:
//                                                                          nothing is done
// While the log cannot be written each look comes to the same: people are told once that an action
// begins, once that the log cannot be written, and again when that changes or after a long time.
// When it can be written, they are told once more right before the node is changed.
//
//   the answer of the back-end: done, failed (certainly nothing changed), or neither: then the
//   action counts as held until a later look settles it.
//
// Thread-safety: thread-safe. Ownership: refers to Parts, which outlive it. Errors: of a look are
// kept and shown (Standing::problems); commands give NotFound, FailedPrecondition, or
// ResourceExhausted when the log cannot be written.
#ifndef FATHOM_COLLECTOR_CORDON_ACTUATOR_H_
#define FATHOM_COLLECTOR_CORDON_ACTUATOR_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collector/cordon/backend/backend.h"
#include "collector/cordon/heard_notices.h"
#include "collector/cordon/policy/policy.h"
#include "collector/notify/notice.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::cordon {

class Actuator {
 public:
  struct Parts {
    std::function<absl::Status(View&)> advice;
    Backend& backend;
    std::function<absl::Status(const Record&)> append;
    // Tells people. For a notice before an action an error stops the action.
    std::function<absl::Status(const collector::Notice&)> tell;
    const collector::Clock& clock;
  };
  // (mode, result) → how often.
  using Counts = std::map<std::pair<std::string, std::string>, std::uint64_t>;

  struct Standing {
    std::vector<Action> actions;
    std::vector<Outlook> outlooks;
    std::string paused, tripped;
    std::vector<std::string> problems;
    Counts counts;
    std::size_t held = 0;
    WallNs last_look;  // that had both advice and nodes
  };

  Actuator(Limits limits, Ledger ledger, Parts parts)
      : parts_(std::move(parts)), policy_(std::move(limits)), ledger_(std::move(ledger)) {}

  void Look();
  // From the next look on. What was done under others stands, and can be undone.
  void Use(Limits limits);
  Standing Stand() const;
  // What went wrong in the last look; cheap, asked at each.
  std::vector<std::string> Problems() const;

  absl::Status Approve(const std::string& action, const std::string& actor);
  absl::Status Undo(const std::string& action, const std::string& actor);
  // Requires: kind is kPaused, kResumed or kReset.
  absl::Status Command(RecordKind kind, const std::string& text, const std::string& actor);

 private:
  Moment Now() const { return {parts_.clock.Wall(), parts_.clock.Mono()}; }
  absl::Status Write(const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False: nothing more may be done in this look.
  bool Take(const Step& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reads the advice again; if the record's verdict is no longer one to act on, that is written.
  [[nodiscard]] bool StillWanted(const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HoldBack(const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Release(const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  collector::Notice NoticeOf(const Record& record) const;
  absl::Status Tell(const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of what was told to begin while the log could not be written: that it begins now. False: nobody
  // hears, and it is written that nothing was done.
  [[nodiscard]] bool ToldAnew(const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Those that are news.
  absl::Status TellNews(const collector::Notice& notice) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // That nothing can be written to the log, or can be again.
  void TellOfLog() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(const Record& record, const std::string& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Parts parts_;
  mutable service::Mutex mutex_;
  Policy policy_ ABSL_GUARDED_BY(mutex_);
  Ledger ledger_ ABSL_GUARDED_BY(mutex_);
  View view_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> problems_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  WallNs last_look_ ABSL_GUARDED_BY(mutex_);
  HeardNotices heard_ ABSL_GUARDED_BY(mutex_);
  std::string unwritable_ ABSL_GUARDED_BY(mutex_);  // why; empty: the log takes what comes
  WallNs unwritable_since_
      ABSL_GUARDED_BY(mutex_);  // as people were told; not known: they were not
};

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_ACTUATOR_H_
