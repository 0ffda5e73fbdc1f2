// The plan of a daemon: what it does at which rate, what each part of it takes, and the budget that
// it keeps to.
//
// Made by the agent's node_planner and by the collector's centre_planner, told by plan_message and
// by the metrics of either. docs/operations/budget.md. Thread-safety: plain values.
#ifndef FATHOM_DAEMON_SERVICE_BUDGET_WORK_PLAN_H_
#define FATHOM_DAEMON_SERVICE_BUDGET_WORK_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/service/budget/spend.h"
#include "proto/types/time_units.h"

namespace fathom::service {

inline constexpr std::size_t kMostLevels = 4;

using OfLevels = std::array<double, kMostLevels>;  // the finest first

// Of something that may be done more coarsely.
struct KnobFacts {
  const char* name;
  std::size_t levels;
  OfLevels values;
  OfLevels loss;
};

struct PlanPart {
  std::string name;
  std::string rate;  // in words; empty: nothing to choose
  std::size_t level = 0, levels = 1;
  Spend spend;              // as measured, at the level that holds
  double ns_per_event = 0;  // processor time
  double events_per_s = 0;
};

struct WorkPlan {
  Spend budget;
  Spend spend;  // of all parts
  bool fits = true;
  std::vector<PlanPart> parts;
  std::uint64_t changes = 0;
  MonoNs since;     // of the last one; not known: there was none
  std::string why;  // the last one was made

  PlanPart& Add(std::string name) {
    PlanPart& part = parts.emplace_back();
    part.name = std::move(name);
    return part;
  }
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUDGET_WORK_PLAN_H_
