// The plan of a node as the message that the centre gets.
//
// Used by Agent. Thread-safety: pure. Errors: none; no limit is told as 0.
#ifndef FATHOM_DAEMON_AGENT_BUDGET_PLAN_MESSAGE_H_
#define FATHOM_DAEMON_AGENT_BUDGET_PLAN_MESSAGE_H_

#include "daemon/agent/budget/node_plan.h"
#include "fathom/v1/plan.pb.h"

namespace fathom::agent {

// `mono_to_wall_ns`: to be added to a monotonic time.
v1::NodePlan PlanMessageOf(const NodePlan& plan, MonoNs now, std::int64_t mono_to_wall_ns);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_BUDGET_PLAN_MESSAGE_H_
