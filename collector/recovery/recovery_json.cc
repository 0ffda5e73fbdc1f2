#include "collector/recovery/recovery_json.h"

namespace fathom::collector {
namespace {

using cli::Json;
using cli::Printable;

Json ListOf(const std::vector<std::string>& lines) {
  Json list = Json::array();
  for (const std::string& line : lines) list.push_back(Printable(line));
  return list;
}

}  // namespace

Json RecoveryJson(const SickJob& job, const RecoveryPlan& plan) {
  Json json = {{"job", job.name},
               {"advice", plan.advice},
               {"why", plan.why},
               {"verdict", job.verdict},
               {"grade", job.grade},
               {"proof", job.proof},
               {"cause", job.cause},
               {"sentence", job.sentence},
               {"processes", job.processes},
               {"slowdown", job.slowdown},
               {"stands_still", job.stands_still},
               {"isolate", plan.isolate},
               {"spare", plan.spare},
               {"spare_because", plan.spare_because},
               {"restart_s", plan.restart_s},
               {"lost_work_s", plan.lost_work_s},
               {"restart_gpu_hours", plan.restart_gpu_hours},
               {"carry_on_gpu_hours", plan.carry_on_gpu_hours},
               {"carry_on_gpu_hours_per_hour", plan.carry_on_per_hour},
               {"pays_from_hours", plan.pays_from_hours},
               {"pays_at_best_hours", plan.pays_at_best_hours}};
  if (plan.checkpoint) {
    json["checkpoint"] = {{"path", Printable(plan.checkpoint->path)},
                          {"step", plan.checkpoint->step},
                          {"written_unix_ns", plan.checkpoint->written_ns}};
  }
  json["steps"] = ListOf(plan.steps);
  json["not_known"] = ListOf(plan.missing);
  json["torn"] = ListOf(plan.torn);
  json["no_spares"] = ListOf(plan.not_spares);
  return json;
}

}  // namespace fathom::collector
