// The metrics of what the collector's work costs and how finely it goes on, under the names that
// the agents' have.
//
// Used by the collector. Thread-safety: pure.
#ifndef FATHOM_COLLECTOR_METRICS_PLAN_METRIC_H_
#define FATHOM_COLLECTOR_METRICS_PLAN_METRIC_H_

#include "collector/metrics/metric_page.h"
#include "daemon/service/budget/work_plan.h"

namespace fathom::collector {

void WritePlanMetrics(const service::WorkPlan& plan, MetricPage& page);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_METRICS_PLAN_METRIC_H_
