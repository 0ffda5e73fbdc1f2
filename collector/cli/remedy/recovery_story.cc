#include "collector/cli/remedy/recovery_story.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

using collector::RecoveryStages;

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

}  // namespace

collector::RecoveryTimes TimesOf(const Recovery& recovery) {
  const StepLife* isolate = LifeOf(recovery, Step::kIsolate);
  return {.onset_ns = IntField(recovery.plan, "since_unix_ns"),
          .planned_ns = IntField(recovery.plan, "planned_unix_ns"),
          .begun_ns = recovery.begun_ns,
          .first_step_ns = FirstIntent(recovery),
          .isolating_ns = isolate == nullptr ? 0 : isolate->begun_ns,
          .isolated_ns = isolate == nullptr ? 0 : isolate->done_ns,
          .running_ns = recovery.running_ns,
          .warm_ns = recovery.warm_ns,
          .ended_ns = recovery.ended_ns,
          .processes = static_cast<int>(IntField(recovery.plan, "processes")),
          .slowdown = std::max(1.0, NumberField(recovery.plan, "slowdown", 1)),
          .stood_still = BoolField(recovery.plan, "stands_still"),
          .plan_lost_work_s = NumberField(recovery.plan, "lost_work_s")};
}

collector::ToldRecovery ToldOf(const Recovery& recovery) {
  return {.id = recovery.id,
          .job = recovery.Plan("job"),
          .state = HowItStands(recovery),
          .said = recovery.said,
          .verdict = recovery.Plan("verdict"),
          .grade = recovery.Plan("grade"),
          .cause = recovery.Plan("cause"),
          .node = recovery.Plan("isolate"),
          .spare = recovery.Plan("spare"),
          .checkpoint = TextField(ObjectField(recovery.plan, "checkpoint"), "path"),
          .backend = recovery.Plan("backend"),
          .by = recovery.Plan("by"),
          .told_by = "",
          .told_ns = 0,
          .times = TimesOf(recovery)};
}

std::string RecoveryRecordText(const Recovery& recovery) {
  const RecoveryStages stages = StagesOf(TimesOf(recovery));
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
  const RecoveryStages stages = StagesOf(TimesOf(recovery));
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
