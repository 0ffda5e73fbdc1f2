#include "collector/api/profile_json.h"

#include <cstdint>
#include <utility>

#include "collector/api/trace_json.h"
#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

constexpr std::int64_t kDefaultSeconds = 5;
constexpr std::int64_t kMaxSeconds = 300;
constexpr std::int64_t kMaxIterations = 100'000;

// Time of the host's threads in CUPTI's own work while the window was open.
double OfCupti(const diagnosis::DeviceWindow& window) {
  double seconds = 0;
  for (const auto& sum : window.sums) seconds += sum.kind == "cupti" ? sum.total.Seconds() : 0;
  return seconds;
}

void WriteRank(RankId rank, const RankWindowState& state, JsonWriter& json) {
  json.BeginObject().Field("rank", rank.value).Field("state", state.state);
  const diagnosis::DeviceWindow none;
  const diagnosis::DeviceWindow& window = state.window != nullptr ? *state.window : none;
  json.Field("reason", state.reason).Field("records", state.records).Field("lost", window.lost);
  json.Field("seconds", window.lasted.Seconds()).Field("busy_s", window.busy.Seconds());
  json.Field("cupti_s", OfCupti(window));
  json.Key("sums").BeginArray();
  for (const auto& sum : window.sums) {
    json.BeginObject().Field("kind", sum.kind).Field("name", sum.name);
    json.Field("count", sum.count).Field("total_s", sum.total.Seconds());
    json.Field("longest_s", sum.longest.Seconds()).Field("bytes", sum.bytes).EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace

std::string ProfileJson(const JobState& job) {
  const DetailWindows windows = job.detail();
  JsonWriter json;
  json.BeginObject().Field("job", job.name()).Field("id", windows.id());
  json.Field("first_iteration", windows.first_iteration());
  json.Field("iterations", windows.iterations()).Key("ranks").BeginArray();
  for (const auto& [rank, state] : windows.ranks()) WriteRank(rank, state, json);
  return json.EndArray().EndObject().Take();
}

std::optional<WindowWish> ParseWish(const Request& request) {
  const auto seconds = request.Number("seconds", kDefaultSeconds);
  if (!seconds || *seconds < 1 || *seconds > kMaxSeconds) return std::nullopt;
  const auto iterations = request.Number("iterations", 0);
  if (!iterations || *iterations < 0 || *iterations > kMaxIterations) return std::nullopt;
  WindowWish wish{static_cast<double>(*seconds), {}, *iterations};
  auto ranks = ParseRanks(request.Text("ranks"));
  if (!ranks) return std::nullopt;
  wish.ranks = *std::move(ranks);
  return wish;
}

}  // namespace fathom::collector
