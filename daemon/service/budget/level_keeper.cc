#include "daemon/service/budget/level_keeper.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace fathom::service {

// The levels that hold, and the only one of each part that no knob changes.
std::vector<std::size_t> LevelKeeper::WithTheRest(const Levels& levels) const {
  std::vector<std::size_t> all = held_;
  all.resize(levels.size(), 0);
  return all;
}

bool LevelKeeper::MayBecomeFiner(const Choice& present, const Choice& finer) {
  const bool better = finer.fits && finer.loss < present.loss;
  calm_ = better ? calm_ + 1 : 0;
  return calm_ >= kCalmLooks;
}

std::string LevelKeeper::Choose(const Levels& levels, const Spend& budget) {
  const Choice present = Priced(levels, WithTheRest(levels), budget);
  bool late = false;
  for (std::size_t k = 0; k < held_.size(); ++k) late = late || !levels[k][held_[k]].allowed;
  const bool forced = late || !present.fits;
  if (!forced && present.loss == 0) return "";
  const Choice best = ChooseLevels(levels, forced ? budget : budget.Scaled(kFinerShare));
  if (forced) calm_ = 0;
  if (!forced && !MayBecomeFiner(present, best)) return "";
  if (best.level == present.level) return "";
  std::copy_n(best.level.begin(), held_.size(), held_.begin());
  calm_ = 0;
  if (late) return late_;
  return forced
             ? absl::StrFormat("it would take %.1f times the budget", present.spend.Times(budget))
             : "a finer plan fits well";
}

bool LevelKeeper::Decide(const Levels& levels, MonoNs now, WorkPlan& plan) {
  std::string why = Choose(levels, plan.budget);
  const Choice holds = Priced(levels, WithTheRest(levels), plan.budget);
  plan.spend = holds.spend;
  plan.fits = holds.fits;
  if (why.empty()) return false;
  ++plan.changes;
  plan.since = now;
  plan.why = std::move(why);
  return true;
}

}  // namespace fathom::service
