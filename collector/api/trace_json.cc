#include "collector/api/trace_json.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <cstdint>
#include <vector>

#include "collector/admission/limits.h"
#include "collector/http/json_writer.h"
#include "collector/job/orders/trace_sources.h"

namespace fathom::collector {
namespace {

std::string SwitchableNames() {
  std::vector<std::string> names;
  for (const TraceSource& source : kTraceSources) {
    if (source.switchable) names.push_back(source.name);
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<std::uint32_t> ParseSources(const std::string& list) {
  std::uint32_t bits = 0;
  if (list.empty()) return bits;
  const std::vector<std::string> names = absl::StrSplit(list, ',');
  for (const std::string& name : names) {
    const TraceSource* source = TraceSourceNamed(name);
    if (source == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no source '", name, "'; there are ", SwitchableNames()));
    }
    if (!source->switchable) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " cannot be switched while a job runs: by its calls ops are numbered;",
                       " FATHOM_TRACE leaves it out of the next one"));
    }
    bits |= source->bit;
  }
  return bits;
}

}  // namespace

std::string TraceJson(const JobState& job) {
  const SourceSwitches switches = job.switches();
  JsonWriter json;
  json.BeginObject().Field("job", job.name()).Key("switched_off").BeginObject();
  for (const auto& [source, ranks] : job.Figures().switched_off) {
    json.Field(std::string(source), ranks);
  }
  json.EndObject().Field("id", switches.id());
  json.Field("first_iteration", switches.first_iteration()).Key("ranks").BeginArray();
  for (const auto& [rank, told] : switches.ranks()) {
    json.BeginObject().Field("rank", rank.value).Field("state", told.state);
    json.Field("reason", told.reason).Field("at_sequence", told.at_sequence).EndObject();
  }
  return json.EndArray().EndObject().Take();
}

std::string StacksJson(const JobState& job) {
  const AskedStacks stacks = job.stacks();
  JsonWriter json;
  json.BeginObject().Field("job", job.name()).Field("id", stacks.id()).Key("ranks").BeginArray();
  for (const auto& [rank, stack] : stacks.ranks()) {
    json.BeginObject().Field("rank", rank.value).Field("state", stack.state);
    json.Field("reason", stack.reason).Field("source", stack.source).Key("frames").BeginArray();
    for (const std::string& frame : stack.frames) json.Value(frame);
    json.EndArray().EndObject();
  }
  return json.EndArray().EndObject().Take();
}

std::optional<std::vector<RankId>> ParseRanks(const std::string& list) {
  std::vector<RankId> ranks;
  if (list.empty()) return ranks;
  for (const auto& text : absl::StrSplit(list, ',')) {
    std::uint32_t rank = 0;
    if (!absl::SimpleAtoi(text, &rank) || rank >= kMaxWorldSize) return std::nullopt;
    ranks.push_back(RankId(rank));
  }
  return ranks;
}

absl::StatusOr<SwitchWish> ParseSwitch(const Request& request) {
  const auto off = ParseSources(request.Text("off"));
  if (!off.ok()) return off.status();
  const auto on = ParseSources(request.Text("on"));
  if (!on.ok()) return on.status();
  const auto ranks = ParseRanks(request.Text("ranks"));
  if (!ranks) return absl::InvalidArgumentError("ranks is a list like 0,3,5");
  if ((*off | *on) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("off or on names sources: ", SwitchableNames()));
  }
  return SwitchWish{*off, *on, *ranks};
}

}  // namespace fathom::collector
