#include "collector/runs/work_json.h"

#include "collector/http/json_writer.h"
#include "collector/runs/work_figures.h"

namespace fathom::collector {
namespace {

using diagnosis::DevicePeak;

void WriteFigures(const WorkFigures& figures, JsonWriter& json) {
  if (figures.flop_per_s > 0) json.Field("flop_per_s", figures.flop_per_s);
  if (figures.mfu) json.Field("mfu_ratio", *figures.mfu);
  if (figures.void_between) json.Field("void_between_ratio", *figures.void_between);
  if (figures.void_within) json.Field("void_within_ratio", *figures.void_within);
}

// A rank's sum is of all types: its share of the peak is that of the job's mix of them.
void WriteRanks(const std::vector<RankWork>& ranks, const WorkFigures& all, JsonWriter& json) {
  json.Key("ranks").BeginArray();
  const auto count = static_cast<double>(ranks.size());
  const double per_flop = all.mfu && all.flop_per_s > 0 ? *all.mfu * count / all.flop_per_s : 0;
  for (const RankWork& rank : ranks) {
    const double duration_s = rank.duration.Seconds();
    if (duration_s <= 0) continue;
    json.BeginObject().Field("rank", rank.rank.value).Field("iteration_s", duration_s);
    const double flop_per_s = rank.flop / duration_s;
    if (rank.flop > 0) json.Field("flop_per_s", flop_per_s);
    if (rank.flop > 0 && per_flop > 0) json.Field("mfu_ratio", per_flop * flop_per_s);
    if (rank.void_between.count > 0) {
      json.Field("void_between_ratio", rank.void_between.Seconds() / duration_s);
      json.Field("void_within_ratio", rank.void_within.Seconds() / duration_s);
    }
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string WorkJson(const std::string& job, const JobWork& work,
                     const std::vector<RankWork>& ranks, const DevicePeak& peak) {
  const WorkFigures all = FiguresOf(work, peak);
  JsonWriter json;
  json.BeginObject().Field("job", job).Field("device", work.device);
  json.Field("world_ranks", static_cast<std::int64_t>(work.ranks));
  json.Field("of_iterations", all.iterations);
  WriteFigures(all, json);
  json.Field("mfu_unknown", all.mfu_unknown).Field("peak_source", all.peak_source);
  json.Key("iterations").BeginArray();
  for (const auto& [iteration, parts] : work.iterations) {
    json.BeginObject().Field("index", iteration).Field("duration_s", parts.duration_s);
    WriteFigures(FiguresOf(parts, work.ranks, peak, work.device), json);
    json.EndObject();
  }
  json.EndArray();
  WriteRanks(ranks, all, json);
  return json.EndObject().Take();
}

}  // namespace fathom::collector
