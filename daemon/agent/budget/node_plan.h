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
#include <string>
#include <vector>

#include "daemon/agent/budget/spend.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

// What may be done more coarsely.
enum class Knob : std::uint8_t { kPolling, kThreads, kWorkers, kHardware, kOps, kRows, kLog };
inline constexpr std::size_t kKnobs = 7;

inline constexpr std::size_t kMostLevels = 4;

using OfLevels = std::array<double, kMostLevels>;  // the finest first

struct KnobFacts {
  const char* name;
  std::size_t levels;
  OfLevels values;
  OfLevels loss;
};

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

struct PlanPart {
  std::string name;
  std::string rate;  // in words; empty: nothing to choose
  std::size_t level = 0, levels = 1;
  Spend spend;              // as measured, at the level that holds
  double ns_per_event = 0;  // processor time
  double events_per_s = 0;
};

struct NodePlan {
  Spend budget;
  Spend spend;  // of all parts
  bool fits = true;
  Paces paces;
  std::vector<PlanPart> parts;
  std::uint64_t changes = 0;
  MonoNs since;     // of the last one; not known: there was none
  std::string why;  // the last one was made
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_BUDGET_NODE_PLAN_H_
