// What the agents of nodes do at which rate, and what it takes of their nodes: /api/v1/plan.
//
// Called by api_nodes. docs/operations/budget.md. Thread-safety: pure. Errors: none.
#ifndef FATHOM_COLLECTOR_API_PLAN_PLAN_JSON_H_
#define FATHOM_COLLECTOR_API_PLAN_PLAN_JSON_H_

#include <string>
#include <vector>

#include "collector/agents/session_registry.h"

namespace fathom::collector {

// Of those that have told one.
std::string PlanJson(const std::vector<AgentFacts>& agents);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_PLAN_PLAN_JSON_H_
