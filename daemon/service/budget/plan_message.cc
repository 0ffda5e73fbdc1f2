#include "daemon/service/budget/plan_message.h"

#include <cmath>

namespace fathom::service {
namespace {

void Fill(const Spend& spend, v1::PlanSpend& out) {
  const auto finite = [](double value) { return std::isfinite(value) ? value : 0; };
  out.set_cores(finite(spend.cores));
  out.set_bytes_per_s(finite(spend.bytes_per_s));
  out.set_memory_bytes(finite(spend.memory));
}

}  // namespace

v1::NodePlan PlanMessageOf(const WorkPlan& plan, MonoNs now, std::int64_t mono_to_wall_ns) {
  v1::NodePlan out;
  out.set_told_wall_ns(now.ns + mono_to_wall_ns);
  Fill(plan.budget, *out.mutable_budget());
  Fill(plan.spend, *out.mutable_spend());
  out.set_fits(plan.fits);
  out.set_changes(plan.changes);
  if (plan.since.known()) out.set_changed_wall_ns(plan.since.ns + mono_to_wall_ns);
  out.set_why(plan.why);
  for (const PlanPart& part : plan.parts) {
    v1::PlanPart& told = *out.add_parts();
    told.set_name(part.name);
    told.set_rate(part.rate);
    told.set_level(static_cast<std::uint32_t>(part.level));
    told.set_levels(static_cast<std::uint32_t>(part.levels));
    Fill(part.spend, *told.mutable_spend());
    told.set_ns_per_event(part.ns_per_event);
    told.set_events_per_s(part.events_per_s);
  }
  return out;
}

}  // namespace fathom::service
