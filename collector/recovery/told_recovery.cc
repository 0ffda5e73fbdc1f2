#include "collector/recovery/told_recovery.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "collector/cli/text/text.h"

namespace fathom::collector {
namespace {

using cli::Cat;
using cli::Json;

constexpr std::array<std::string_view, 5> kStates = {"under way", "being undone", "recovered",
                                                     "undone", "given up"};
constexpr double kMostProcesses = 10e6;
constexpr double kMostSeconds = 10.0 * 366 * 86'400;

using Text = std::pair<const char*, std::string ToldRecovery::*>;
constexpr std::array<Text, 13> kTexts = {{{"id", &ToldRecovery::id},
                                          {"job", &ToldRecovery::job},
                                          {"state", &ToldRecovery::state},
                                          {"said", &ToldRecovery::said},
                                          {"verdict", &ToldRecovery::verdict},
                                          {"grade", &ToldRecovery::grade},
                                          {"cause", &ToldRecovery::cause},
                                          {"isolate", &ToldRecovery::node},
                                          {"spare", &ToldRecovery::spare},
                                          {"checkpoint", &ToldRecovery::checkpoint},
                                          {"backend", &ToldRecovery::backend},
                                          {"by", &ToldRecovery::by},
                                          {"told_by", &ToldRecovery::told_by}}};

using Time = std::pair<const char*, std::int64_t RecoveryTimes::*>;
constexpr std::array<Time, 9> kTimes = {{{"since_unix_ns", &RecoveryTimes::onset_ns},
                                         {"planned_unix_ns", &RecoveryTimes::planned_ns},
                                         {"begun_unix_ns", &RecoveryTimes::begun_ns},
                                         {"first_step_unix_ns", &RecoveryTimes::first_step_ns},
                                         {"isolating_unix_ns", &RecoveryTimes::isolating_ns},
                                         {"isolated_unix_ns", &RecoveryTimes::isolated_ns},
                                         {"running_unix_ns", &RecoveryTimes::running_ns},
                                         {"warm_unix_ns", &RecoveryTimes::warm_ns},
                                         {"ended_unix_ns", &RecoveryTimes::ended_ns}}};

// Whole characters of UTF-8 only.
std::string Cut(std::string text) {
  std::size_t end = std::min(text.size(), ToldRecovery::kMostText);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  text.resize(end);
  return text;
}

Json FieldsOf(const ToldRecovery& told) {
  Json json = Json::object();
  for (const auto& [name, text] : kTexts) json[name] = Cut(told.*text);
  json["told_unix_ns"] = told.told_ns;
  for (const auto& [name, time] : kTimes) json[name] = told.times.*time;
  json["processes"] = told.times.processes;
  json["slowdown"] = told.times.slowdown;
  json["stands_still"] = told.times.stood_still;
  json["plan_lost_work_s"] = told.times.plan_lost_work_s;
  return json;
}

// Empty: nothing.
std::string WhatIsWrong(const ToldRecovery& told) {
  if (told.id.empty() || told.job.empty()) return "it has no id or names no job";
  if (std::find(kStates.begin(), kStates.end(), told.state) == kStates.end())
    return "its state is none that a recovery has";
  if (told.times.begun_ns <= 0) return "it does not tell when it was begun";
  const auto negative = [&](const Time& each) { return told.times.*each.second < 0; };
  if (std::any_of(kTimes.begin(), kTimes.end(), negative)) return "a time lies before 1970";
  const bool sane = told.times.slowdown >= 1 && told.times.slowdown < kMostSeconds &&
                    told.times.plan_lost_work_s >= 0 && told.times.plan_lost_work_s < kMostSeconds;
  if (!sane) return "slowdown or plan_lost_work_s is out of range";
  return told.times.processes < 0 ? "processes is out of range" : "";
}

}  // namespace

std::string ToldRecoveryText(const ToldRecovery& told) {
  return FieldsOf(told).dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<ToldRecovery> ReadToldRecovery(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("not a JSON object");
  ToldRecovery told;
  for (const auto& [name, field] : kTexts) {
    told.*field = cli::TextField(json, name);
    if ((told.*field).size() > ToldRecovery::kMostText)
      return absl::InvalidArgumentError(
          Cat(name, " has more than ", ToldRecovery::kMostText, " bytes"));
  }
  told.told_ns = cli::IntField(json, "told_unix_ns");
  for (const auto& [name, time] : kTimes) told.times.*time = cli::IntField(json, name);
  const double processes = cli::NumberField(json, "processes");
  const bool counts = processes >= 0 && processes <= kMostProcesses;
  told.times.processes = counts ? static_cast<int>(processes) : -1;
  told.times.slowdown = cli::NumberField(json, "slowdown", 1);
  told.times.stood_still = cli::BoolField(json, "stands_still");
  told.times.plan_lost_work_s = cli::NumberField(json, "plan_lost_work_s");
  if (const std::string wrong = WhatIsWrong(told); !wrong.empty())
    return absl::InvalidArgumentError(wrong);
  return told;
}

Json ToldRecoveryJson(const ToldRecovery& told) {
  const RecoveryStages stages = StagesOf(told.times);
  Json json = FieldsOf(told);
  json["stages"] = StagesJson(stages);
  if (stages.lost_gpu_hours >= 0) json["lost_gpu_hours"] = stages.lost_gpu_hours;
  json["won_gpu_hours_per_hour"] = stages.won_per_hour;
  return json;
}

}  // namespace fathom::collector
