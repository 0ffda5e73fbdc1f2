#include "collector/metrics/plan_metric.h"

#include <cmath>

namespace fathom::collector {

void WritePlanMetrics(const service::WorkPlan& plan, MetricPage& page) {
  auto budget = page.Gauge(
      "fathom_budget", "What the collector may take of its machine, by resource; absent: no limit");
  if (std::isfinite(plan.budget.cores)) budget.Set(plan.budget.cores, {{"resource", "cores"}});
  if (std::isfinite(plan.budget.memory)) {
    budget.Set(plan.budget.memory, {{"resource", "memory_bytes"}});
  }
  auto spent = page.Gauge("fathom_budget_spent",
                          "What its plan takes as measured, by resource, in the budget's units");
  spent.Set(plan.spend.cores, {{"resource", "cores"}});
  spent.Set(plan.spend.bytes_per_s, {{"resource", "bytes_per_second"}});
  spent.Set(plan.spend.memory, {{"resource", "memory_bytes"}});
  auto cpu =
      page.Gauge("fathom_plan_cpu_ratio", "Share of a core that a part of its work takes, by part");
  for (const auto& part : plan.parts) cpu.Set(part.spend.cores, {{"part", part.name}});
  auto level = page.Gauge("fathom_plan_level",
                          "How coarsely it does a part of its work, 0 is the finest, by part");
  for (const auto& part : plan.parts) {
    if (part.levels > 1) level.Set(static_cast<double>(part.level), {{"part", part.name}});
  }
  page.Counter("fathom_plan_changes_total", "Times that the plan was changed")
      .Set(static_cast<double>(plan.changes));
}

}  // namespace fathom::collector
