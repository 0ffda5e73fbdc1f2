// The plan of a node: what the agent does at which rate, what each part of it takes, and the budget
// that it keeps to.
//
// Made by node_planner, carried out by Agent, told by plan_message and self_metrics.
// docs/operations/budget.md.
//
// Thread-safety: plain values.
#ifndef FATHOM_DAEMON_AGENT_BUDGET_NODE_PLAN_H_
#define FATHOM_DAEMON_AGENT_BUDGET_NODE_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "daemon/service/budget/work_plan.h"

namespace fathom::agent {

using service::KnobFacts;
using service::PlanPart;
using service::Spend;

// What may be done more coarsely.
enum class Knob : std::uint8_t { kPolling, kThreads, kWorkers, kHardware, kOps, kRows, kLog };
inline constexpr std::size_t kKnobs = 7;

// Polling: times the rest between two looks at the rings. Threads, workers, hardware: ms between
// two samples. Ops: all that are wanted, or none. Rows: bytes of the largest answer. Log: share of
// the rows that a rank's log may hold.
const KnobFacts& FactsOf(Knob knob);

// What holds now, by knob.
struct Paces {
  std::array<std::size_t, kKnobs> level{};

  double Of(Knob knob) const { return FactsOf(knob).values[level[static_cast<std::size_t>(knob)]]; }
  bool operator==(const Paces&) const = default;
};

struct NodePlan : service::WorkPlan {
  Paces paces;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_BUDGET_NODE_PLAN_H_
