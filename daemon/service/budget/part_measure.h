// How often a part of a daemon's work happens, and what one of it costs: what a plan is made from.
//
// Filled from what a CostMeter counted between two looks. Model: costs are smoothed; a rate is as
// it is now or smoothed, whichever is more, so that work that begins to come ten times as often is
// met at once. Units: ns of processor time, seconds. Thread-safety: thread-compatible. Errors:
// none.
#ifndef FATHOM_DAEMON_SERVICE_BUDGET_PART_MEASURE_H_
#define FATHOM_DAEMON_SERVICE_BUDGET_PART_MEASURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/service/budget/choose_levels.h"

namespace fathom::service {

// What a part cost since the last look.
struct PartCost {
  std::int64_t cpu_ns = 0;
  std::uint64_t runs = 0;
  std::uint64_t events = 0;
};

// 0 `before`: there was none.
double Smoothed(double before, double now);

struct PartMeasure {
  double ns_per_event = 0;  // smoothed; 0: none was seen yet
  double per_s = 0;         // the rate to plan with
  double smooth_per_s = 0;
  double ns_per_run = 0;

  void Learn(const PartCost& cost, double seconds);
  // From now on it happens so many times as often, by a change of its level.
  void Scale(double times) {
    per_s *= times;
    smooth_per_s *= times;
  }
  // Its knob went from one of these levels to another: it happens as often as they tell.
  void Move(const std::vector<Level>& levels, std::size_t from, std::size_t to) {
    const double was = levels[from].spend.cores;
    if (was > 0) Scale(levels[to].spend.cores / was);
  }
  double cores() const { return ns_per_event * 1e-9 * per_s; }
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUDGET_PART_MEASURE_H_
