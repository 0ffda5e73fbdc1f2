#include "collector/recovery/recovery_stages.h"

#include <algorithm>

namespace fathom::collector {
namespace {

constexpr double kHour = 3600;

double Between(std::int64_t from, std::int64_t to) {
  return from == 0 || to == 0 ? -1
                              : 1e-9 * static_cast<double>(std::max<std::int64_t>(0, to - from));
}

}  // namespace

RecoveryStages StagesOf(const RecoveryTimes& times) {
  RecoveryStages stages;
  stages.detection_s = Between(times.onset_ns, times.planned_ns);
  stages.decision_s =
      Between(times.planned_ns == 0 ? times.begun_ns : times.planned_ns, times.first_step_ns);
  stages.isolation_s = Between(times.first_step_ns, times.isolated_ns);
  stages.restart_s = Between(times.isolated_ns, times.running_ns);
  stages.warm_s = Between(times.running_ns, times.warm_ns);
  stages.stood_s = Between(times.isolating_ns, times.running_ns);
  // What was done between the plan and the isolation is lost as well.
  const double slowdown = std::max(1.0, times.slowdown);
  const double since_plan = std::max(0.0, Between(times.begun_ns, times.isolated_ns));
  stages.lost_work_s = times.plan_lost_work_s + (times.stood_still ? 0 : since_plan / slowdown);
  if (stages.stood_s >= 0)
    stages.lost_gpu_hours = times.processes * (stages.stood_s + stages.lost_work_s) / kHour;
  stages.won_per_hour = times.processes * (times.stood_still ? 1 : slowdown - 1);
  return stages;
}

cli::Json StagesJson(const RecoveryStages& stages) {
  cli::Json json = cli::Json::object();
  const auto add = [&](const char* name, double value) {
    if (value >= 0) json[name] = value;
  };
  add("detection_s", stages.detection_s);
  add("decision_s", stages.decision_s);
  add("isolation_s", stages.isolation_s);
  add("restart_s", stages.restart_s);
  add("warm_up_s", stages.warm_s);
  add("lost_work_s", stages.lost_work_s);
  add("stood_s", stages.stood_s);
  return json;
}

}  // namespace fathom::collector
