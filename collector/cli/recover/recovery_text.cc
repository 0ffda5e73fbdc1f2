#include "collector/cli/recover/recovery_text.h"

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/text/json_fields.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

using collector::RecoveryPlan;
using collector::SickJob;

std::string GpuHours(double hours) { return absl::StrFormat("%.2f GPU-hours", hours); }

std::string CheckpointText(const RecoveryPlan& plan) {
  if (!plan.checkpoint) return "none";
  return Cat(plan.checkpoint->path, " (step ", plan.checkpoint->step, "), ",
             Seconds(plan.lost_work_s), " of work since are done anew");
}

std::string CarryOnText(const SickJob& job, const RecoveryPlan& plan) {
  if (job.stands_still) return Cat(GpuHours(plan.carry_on_per_hour), " each hour, for nothing");
  if (plan.carry_on_gpu_hours > 0) return GpuHours(plan.carry_on_gpu_hours);
  return Cat(GpuHours(plan.carry_on_per_hour), " for each hour of work that is left");
}

void AppendList(std::string* out, const char* heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  AppendTo(out, heading, "\n");
  for (const std::string& line : lines) AppendTo(out, "  - ", Printable(line), "\n");
}

}  // namespace

std::string RecoveryText(const SickJob& job, const RecoveryPlan& plan) {
  std::string out = Cat(job.name, ": ", plan.advice, "; ", plan.why, "\n");
  if (!job.sentence.empty()) {
    AppendTo(&out, "verdict     ", job.sentence, " (", job.grade,
             job.proof.empty() ? ", not probed" : Cat(", a probe: ", job.proof), ")\n");
  }
  AppendTo(&out, "isolate     ", plan.isolate.empty() ? "-" : plan.isolate, "\n");
  AppendTo(&out, "spare       ",
           plan.spare.empty() ? "none" : Cat(plan.spare, " (", plan.spare_because, ")"), "\n");
  AppendTo(&out, "checkpoint  ", Printable(CheckpointText(plan)), "\n");
  AppendTo(&out, "restart     ", GpuHours(plan.restart_gpu_hours), ": ", Seconds(plan.restart_s),
           " until the first iteration and ", Seconds(plan.lost_work_s), " of work, ",
           job.processes, " processes\n");
  AppendTo(&out, "carrying on ", CarryOnText(job, plan), "\n");
  AppendList(&out, "steps", plan.steps);
  AppendList(&out, "not known", plan.missing);
  AppendList(&out, "checkpoints that are not whole", plan.torn);
  AppendList(&out, "no spares", plan.not_spares);
  return out;
}

}  // namespace fathom::cli
