// Tells the collector how a recovery stands, so that its record is on the page and in the month.
//
// Owned by the verbs `recover run` and `recover undo`, called after each record of the journal.
// A recovery never waits for it longer than one request: where the collector does not take a
// telling, nothing is told until the recovery stops or ends, and then kTries times. Each telling is
// whole, so the last one makes good those before it; what was not told in the end is said, and told
// by the next verb about the job.
//
//   begun ─ done ─ running ─ warm ─ ended: told       intents: not told, a deed waits for nobody
//
// Thread-safety: single-threaded. Errors: none; UntoldText says what was not told. Cost: one
// request a record that is no intent.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_TELLER_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_TELLER_H_

#include <absl/status/status.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "collector/cli/remedy/recovery_history.h"

namespace fathom::cli {

class RecoveryTeller {
 public:
  static constexpr int kTries = 3;
  static constexpr std::chrono::milliseconds kBetween{1000};
  static constexpr std::size_t kToldAgain = 3;

  struct Parts {
    std::function<absl::Status(const std::string& job, const std::string& body)> post;
    std::function<void(std::chrono::milliseconds)> pause;
  };

  explicit RecoveryTeller(Parts parts) : parts_(std::move(parts)) {}

  // Of what a run found in the journal: the newest kToldAgain, which may not have been told.
  void Again(const RecoveryHistory& history);
  // `now`: with that record folded.
  void OnRecord(Mark mark, const Recovery& now);
  // What the collector has not been told, and why; empty: it knows all.
  std::string UntoldText() const;

 private:
  bool Tell(const Recovery& now);

  const Parts parts_;
  int untold_ = 0;  // records since the last telling that was taken
  absl::Status why_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_TELLER_H_
