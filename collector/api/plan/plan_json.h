// What agents and collectors do at which rate, and what it takes of their machines: /api/v1/plan.
//
// Called by api_nodes. docs/operations/budget.md. Thread-safety: pure. Errors: none.
#ifndef FATHOM_COLLECTOR_API_PLAN_PLAN_JSON_H_
#define FATHOM_COLLECTOR_API_PLAN_PLAN_JSON_H_

#include <string>
#include <vector>

#include "collector/agents/session_registry.h"
#include "fathom/v1/plan.pb.h"

namespace fathom::collector {

// Of a collector.
struct CentrePlan {
  std::string collector;  // its name
  v1::NodePlan plan;
};

// Of those agents that have told one, after that of the collector. `centre` null: without it.
std::string PlanJson(const CentrePlan* centre, const std::vector<AgentFacts>& agents);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_PLAN_PLAN_JSON_H_
