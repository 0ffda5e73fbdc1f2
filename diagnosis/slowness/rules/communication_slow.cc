#include "diagnosis/slowness/rules/communication_slow.h"

#include <algorithm>
#include <map>

#include "diagnosis/graph/critical_path.h"
#include "diagnosis/graph/group_transfers.h"

namespace fathom::diagnosis {
namespace {

void ChargeByRows(const Case& c, Findings& out) {
  for (Iteration iteration : c.graph.irregular()) {
    std::map<GroupId, double> excess;
    for (const PathStep& step : CriticalPath(c.graph, iteration, c.graph.wait_floor())) {
      const Instance* instance = step.transfer ? c.graph.instances().Of(step.ref) : nullptr;
      if (instance == nullptr || !instance->complete) continue;
      const auto more = c.graph.TransferExcess(*instance);
      if (more) excess[instance->group] += std::clamp(*more, 0.0, std::max(0.0, step.seconds));
    }
    for (const auto& [group, seconds] : excess) {
      out.group_charges.push_back({iteration, group, seconds});
    }
  }
}

// Rows of a few ranks hold whole instances of small groups only, and the chain through them has
// holes: there the summaries of all ranks tell more.
void ChargeBySummaries(const Case& c, Findings& out) {
  std::map<Iteration, double> whole;
  for (const IrregularIteration& it : c.suspicion.irregular) {
    whole[it.index] = std::max(0.0, (it.duration - c.suspicion.expected).Seconds());
  }
  for (const GroupTransfers& group : TransfersOf(c.view, c.graph.irregular(), c.graph.baseline())) {
    for (std::size_t i = 0; i < group.times.size(); ++i) {
      const Iteration iteration = c.graph.irregular()[i];
      const double more = group.times[i] - group.usual;
      if (more < c.config.mostly_share * whole[iteration]) continue;
      out.group_charges.push_back({iteration, group.group, std::min(more, whole[iteration])});
    }
  }
}

void Examine(const Case& c, Findings& out) {
  const bool of_all =
      c.view.window.empty() || c.graph.lines().size() >= c.view.window.back().ranks.size();
  if (of_all) {
    ChargeByRows(c, out);
  } else {
    ChargeBySummaries(c, out);
  }
}

}  // namespace

Rule CommunicationSlowRule() {
  return {"communication_slow",
          {"communication_ops"},
          "whether the communication itself is slow",
          [](const Suspicion& s) { return s.slow; },
          Examine};
}

}  // namespace fathom::diagnosis
