#include "daemon/agent/budget/node_plan.h"

#include "daemon/agent/budget/work_part.h"

namespace fathom::agent {
namespace {

constexpr double kMiB = 1 << 20;

// Losses are ours, by what is told less well: see docs/operations/budget.md.
constexpr std::array<KnobFacts, kKnobs> kFacts = {{
    {"polling", 4, {1, 2, 4, 8}, {0, 0.05, 0.15, 0.4}},
    {"threads", 4, {5, 20, 80, 320}, {0, 0.1, 0.3, 0.8}},
    {"workers", 3, {250, 1000, 4000}, {0, 0.05, 0.15}},
    {"hardware", 4, {1000, 2000, 5000, 10'000}, {0, 0.1, 0.3, 0.6}},
    {"ops", 2, {1, 0}, {0, 1.5}},
    {"rows", 3, {4 * kMiB, kMiB, kMiB / 4}, {0, 0.3, 1}},
    {"log", 4, {1, 0.5, 0.25, 0.125}, {0, 0.1, 0.3, 0.8}},
}};

}  // namespace

const char* NameOf(WorkPart part) {
  constexpr std::array<const char*, kWorkParts> kNames = {
      "polling", "records", "threads", "workers", "summaries", "health", "ops", "rows"};
  return kNames[static_cast<std::size_t>(part)];
}

const KnobFacts& FactsOf(Knob knob) { return kFacts[static_cast<std::size_t>(knob)]; }

}  // namespace fathom::agent
