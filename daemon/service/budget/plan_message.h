// The plan of a daemon as a message: what the centre gets of a node, and what its API shows of
// itself.
//
// Used by Agent and by Collector. Thread-safety: pure. Errors: none; no limit is told as 0.
#ifndef FATHOM_DAEMON_SERVICE_BUDGET_PLAN_MESSAGE_H_
#define FATHOM_DAEMON_SERVICE_BUDGET_PLAN_MESSAGE_H_

#include "daemon/service/budget/work_plan.h"
#include "fathom/v1/plan.pb.h"

namespace fathom::service {

// `mono_to_wall_ns`: to be added to a monotonic time.
v1::NodePlan PlanMessageOf(const WorkPlan& plan, MonoNs now, std::int64_t mono_to_wall_ns);

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUDGET_PLAN_MESSAGE_H_
