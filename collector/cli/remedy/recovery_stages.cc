#include "collector/cli/remedy/recovery_stages.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr double kHour = 3600;

double Between(std::int64_t from, std::int64_t to) {
  return from == 0 || to == 0 ? -1
                              : 1e-9 * static_cast<double>(std::max<std::int64_t>(0, to - from));
}

std::int64_t FirstIntent(const Recovery& recovery) {
  std::int64_t first = 0;
  for (const auto& [key, life] : recovery.steps) {
    if (life.begun_ns != 0 && (first == 0 || life.begun_ns < first)) first = life.begun_ns;
  }
  return first;
}

const StepLife* LifeOf(const Recovery& recovery, Step step) {
  const auto at = recovery.steps.find({step, 0});
  return at == recovery.steps.end() ? nullptr : &at->second;
}

std::string SecondsOrNot(double seconds) { return seconds < 0 ? "-" : Seconds(seconds); }

std::string Line(const char* stage, double seconds, const char* what) {
  return absl::StrFormat("  %-10s %10s  %s\n", stage, SecondsOrNot(seconds), what);
}

std::string CostText(const RecoveryStages& stages) {
  const std::string lost =
      stages.lost_gpu_hours < 0
          ? ""
          : absl::StrFormat(
                "lost        %.3f GPU-hours: %s of standing still and %s of work done "
                "anew, all processes\n",
                stages.lost_gpu_hours, Seconds(stages.stood_s), Seconds(stages.lost_work_s));
  return Cat(lost,
             absl::StrFormat("won         %.3f GPU-hours in each hour of work that was left\n",
                             stages.won_per_hour));
}

std::string HowItStands(const Recovery& recovery) {
  if (!recovery.outcome.empty()) return recovery.outcome;
  return recovery.undoing ? "being undone" : "under way";
}

Json StagesJson(const RecoveryStages& stages) {
  Json json = Json::object();
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

}  // namespace

RecoveryStages StagesOf(const Recovery& recovery) {
  RecoveryStages stages;
  const std::int64_t onset = IntField(recovery.plan, "since_unix_ns");
  const std::int64_t told = IntField(recovery.plan, "planned_unix_ns");
  const std::int64_t first = FirstIntent(recovery);
  const StepLife* isolate = LifeOf(recovery, Step::kIsolate);
  const std::int64_t out = isolate == nullptr ? 0 : isolate->done_ns;
  stages.detection_s = Between(onset, told);
  stages.decision_s = Between(told == 0 ? recovery.begun_ns : told, first);
  stages.isolation_s = Between(first, out);
  stages.restart_s = Between(out, recovery.running_ns);
  stages.warm_s = Between(recovery.running_ns, recovery.warm_ns);
  stages.stood_s = Between(isolate == nullptr ? 0 : isolate->begun_ns, recovery.running_ns);
  // What was done between the plan and the isolation is lost as well.
  const double slowdown = std::max(1.0, NumberField(recovery.plan, "slowdown", 1));
  const double since_plan = std::max(0.0, Between(recovery.begun_ns, out));
  const bool stood = BoolField(recovery.plan, "stands_still");
  stages.lost_work_s =
      NumberField(recovery.plan, "lost_work_s") + (stood ? 0 : since_plan / slowdown);
  const double processes = NumberField(recovery.plan, "processes");
  if (stages.stood_s >= 0)
    stages.lost_gpu_hours = processes * (stages.stood_s + stages.lost_work_s) / kHour;
  stages.won_per_hour = processes * (stood ? 1 : slowdown - 1);
  return stages;
}

std::string RecoveryRecordText(const Recovery& recovery) {
  const RecoveryStages stages = StagesOf(recovery);
  std::string out = Cat(recovery.id, "  ", recovery.Plan("job"), ": ", HowItStands(recovery), "\n");
  if (!recovery.said.empty()) AppendTo(&out, "            ", recovery.said, "\n");
  AppendTo(&out, "verdict     ", recovery.Plan("verdict"), " (", recovery.Plan("grade"), ", ",
           recovery.Plan("cause"), ")\n");
  AppendTo(&out, "isolate     ", recovery.Plan("isolate"), ", spare ", recovery.Plan("spare"),
           ", by ", recovery.Plan("backend"), "\n");
  const Json& checkpoint = ObjectField(recovery.plan, "checkpoint");
  AppendTo(&out, "checkpoint  ",
           checkpoint.empty() ? std::string("none") : TextField(checkpoint, "path"), "\n");
  AppendTo(&out, Line("detection", stages.detection_s, "onset until a plan was asked for"),
           Line("decision", stages.decision_s, "until the first step"),
           Line("isolation", stages.isolation_s, "until the sick node was out of the job"),
           Line("restart", stages.restart_s, "until the first iteration without it"),
           Line("warm-up", stages.warm_s, "until the usual pace"),
           Line("lost work", stages.lost_work_s, "since the checkpoint, at healthy speed"),
           CostText(stages));
  return out;
}

std::string RecoveryListText(const std::vector<Recovery>& all) {
  std::string out;
  for (const Recovery& recovery : all) AppendTo(&out, RecoveryRecordText(recovery), "\n");
  return out;
}

Json RecoveryRecordJson(const Recovery& recovery) {
  const RecoveryStages stages = StagesOf(recovery);
  Json steps = Json::array();
  for (const auto& [key, life] : recovery.steps) {
    static constexpr const char* kStates[] = {"not done", "in doubt", "done", "undo in doubt",
                                              "undone"};
    steps.push_back({{"step", Word(key.first)},
                     {"attempt", key.second},
                     {"state", kStates[static_cast<int>(life.state)]},
                     {"begun_unix_ns", life.begun_ns},
                     {"done_unix_ns", life.done_ns}});
  }
  Json json = {{"id", recovery.id},
               {"state", HowItStands(recovery)},
               {"said", recovery.said},
               {"begun_unix_ns", recovery.begun_ns},
               {"running_unix_ns", recovery.running_ns},
               {"ended_unix_ns", recovery.ended_ns},
               {"stages", StagesJson(stages)},
               {"won_gpu_hours_per_hour", stages.won_per_hour},
               {"steps", steps},
               {"plan", recovery.plan}};
  if (stages.lost_gpu_hours >= 0) json["lost_gpu_hours"] = stages.lost_gpu_hours;
  return json;
}

}  // namespace fathom::cli
