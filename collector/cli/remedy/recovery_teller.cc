#include "collector/cli/remedy/recovery_teller.h"

#include <algorithm>

#include "collector/cli/remedy/recovery_story.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {

bool RecoveryTeller::Tell(const Recovery& now) {
  why_ = parts_.post(now.Plan("job"), ToldRecoveryText(ToldOf(now)));
  if (why_.ok()) untold_ = 0;
  return why_.ok();
}

void RecoveryTeller::Again(const RecoveryHistory& history) {
  const auto& all = history.all();
  const std::size_t first = all.size() - std::min(all.size(), kToldAgain);
  for (std::size_t i = first; i < all.size() && why_.ok(); ++i) Tell(all[i]);
  // What they are short of is not of this run.
  why_ = absl::OkStatus();
}

void RecoveryTeller::OnRecord(Mark mark, const Recovery& now) {
  ++untold_;
  if (mark == Mark::kIntent || mark == Mark::kUndoIntent) return;
  const bool last = mark == Mark::kStopped || mark == Mark::kEnded;
  if (!why_.ok() && !last) return;
  for (int tries = last ? kTries : 1; tries > 0 && !Tell(now); --tries) {
    if (tries > 1) parts_.pause(kBetween);
  }
}

std::string RecoveryTeller::UntoldText() const {
  if (why_.ok()) return "";
  return Cat("the collector was not told of ", Counted(static_cast<std::size_t>(untold_), "record"),
             " of this recovery (", Message(why_),
             "); the next fathom recover run or undo of the job tells it");
}

}  // namespace fathom::cli
