// Which level of each knob holds, and when another takes its place.
//
// Owned by the agent's node_planner and by the collector's centre_planner, which say what each
// level would take. docs/operations/budget.md.
//
// Hysteresis: beyond the budget the levels change at once, since measuring takes seconds anyway.
// They become finer only once finer ones have fitted into kFinerShare of the budget for kCalmLooks
// looks in a row, so that a rate that swings around a limit does not make the plan swing. A level
// that is not allowed any more, for it would come too late, is left at once likewise.
//
// Thread-safety: thread-compatible. Errors: none; what cannot be made to fit says so in the plan.
// Cost: that of choose_levels, once a look.
#ifndef FATHOM_DAEMON_SERVICE_BUDGET_LEVEL_KEEPER_H_
#define FATHOM_DAEMON_SERVICE_BUDGET_LEVEL_KEEPER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "daemon/service/budget/choose_levels.h"
#include "daemon/service/budget/work_plan.h"

namespace fathom::service {

class LevelKeeper {
 public:
  static constexpr double kFinerShare = 0.8;
  static constexpr int kCalmLooks = 6;

  // `late`: why a plan is changed whose levels are not allowed any more.
  LevelKeeper(std::size_t knobs, std::string late) : late_(std::move(late)), held_(knobs, 0) {}

  // `levels`: of each knob, and after them what no knob changes, at one level each. Whether the
  // levels changed, which `plan` tells then; it tells what is spent in any case.
  bool Decide(const Levels& levels, MonoNs now, WorkPlan& plan);
  // By knob.
  const std::vector<std::size_t>& held() const { return held_; }

 private:
  std::vector<std::size_t> WithTheRest(const Levels& levels) const;
  bool MayBecomeFiner(const Choice& present, const Choice& finer);
  // Empty: nothing is changed.
  std::string Choose(const Levels& levels, const Spend& budget);

  const std::string late_;
  std::vector<std::size_t> held_;
  int calm_ = 0;  // looks in a row at which a finer one fitted
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUDGET_LEVEL_KEEPER_H_
