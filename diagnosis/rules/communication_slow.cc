#include "diagnosis/rules/communication_slow.h"

#include <algorithm>
#include <map>

#include "diagnosis/graph/critical_path.h"

namespace fathom::diagnosis {
namespace {

void Examine(const Case& c, Findings& out) {
  const double floor = c.config.wait_floor.Seconds();
  for (Iteration iteration : c.graph.irregular()) {
    std::map<GroupId, double> excess;
    for (const PathStep& step : CriticalPath(c.graph, iteration, floor)) {
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

}  // namespace

Rule CommunicationSlowRule() {
  return {"communication_slow",
          {"communication_ops"},
          "whether the communication itself is slow",
          [](const Suspicion& s) { return s.slow; },
          Examine};
}

}  // namespace fathom::diagnosis
