#include "diagnosis/slowness/rules/walk_back.h"

#include <algorithm>
#include <map>

#include "diagnosis/graph/critical_path.h"

namespace fathom::diagnosis {
namespace {

// All gaps of the iteration: what the rank took by itself.
void ChargeOwn(const ExecutionGraph& graph, std::size_t line, RankCharge& charge) {
  const auto [first, last] = graph.lines()[line].iterations.at(charge.iteration);
  for (std::size_t k = first; k < last; ++k) {
    if (const auto excess = graph.GapExcess({line, k})) {
      charge.own += *excess;
    } else {
      charge.unknown += graph.lines()[line].gaps[k].own();
    }
  }
}

// A gap's excess, but no more of it than the chain stayed in the gap.
void ChargePath(const ExecutionGraph& graph, const PathStep& step, RankCharge& charge) {
  const auto excess = graph.GapExcess(step.ref);
  if (excess && excess->total > 0) {
    charge.path += excess->Scaled(std::min(1.0, step.seconds / excess->total));
  }
}

void Examine(const Case& c, Findings& out) {
  const double floor = c.graph.wait_floor();
  for (Iteration iteration : c.graph.irregular()) {
    std::map<std::size_t, RankCharge> charges;  // by line
    for (std::size_t l = 0; l < c.graph.lines().size(); ++l) {
      if (!c.graph.lines()[l].iterations.contains(iteration)) continue;
      charges[l] = {iteration, c.graph.lines()[l].rank, {}, {}, true, 0};
      ChargeOwn(c.graph, l, charges[l]);
    }
    for (const PathStep& step : CriticalPath(c.graph, iteration, floor)) {
      const auto charge = charges.find(step.ref.line);
      if (!step.transfer && charge != charges.end()) ChargePath(c.graph, step, charge->second);
    }
    for (auto& [line, charge] : charges) out.rank_charges.push_back(std::move(charge));
  }
  for (Iteration iteration : c.graph.baseline()) {
    for (std::size_t l = 0; l < c.graph.lines().size(); ++l) {
      out.rank_charges.push_back({iteration, c.graph.lines()[l].rank, {}, {}, false, 0});
      ChargeOwn(c.graph, l, out.rank_charges.back());
    }
  }
  if (c.graph.irregular().empty()) {
    out.abstained.push_back({"who holds the job back", "ops of irregular iterations of all ranks"});
  } else if (c.graph.baseline().empty()) {
    out.abstained.push_back({"who holds the job back", "ops of iterations before the onset"});
  }
}

}  // namespace

Rule WalkBackRule() {
  return {"walk_back",
          {"communication_ops"},
          "who holds the job back",
          [](const Suspicion& s) { return s.slow; },
          Examine};
}

}  // namespace fathom::diagnosis
