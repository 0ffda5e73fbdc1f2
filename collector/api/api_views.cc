// The part of Api for views that a reader opens: one iteration op by op, its trace, communicators,
// actions on nodes.
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <optional>
#include <set>

#include "collector/admission/limits.h"
#include "collector/api/api.h"
#include "collector/api/communicators_json.h"
#include "collector/export/html/one_iteration.h"
#include "collector/export/perfetto/job_trace.h"
#include "collector/http/json_writer.h"
#include "collector/runs/work_figures.h"
#include "collector/runs/work_json.h"

namespace fathom::collector {
namespace {

constexpr std::int64_t kDefaultCommunicatorIterations = 20;
constexpr std::size_t kLateReports = 8;   // iterations; a rank that is further behind is stuck
constexpr std::size_t kMostPictures = 4;  // in one answer
constexpr std::size_t kMostBandwidthRanks = 64;

std::vector<RankId> RanksOf(const diagnosis::JobView& view) {
  std::vector<RankId> ranks;
  for (const auto& facts : view.ranks) ranks.push_back(facts.rank);
  return ranks;
}

// Ranks report an iteration at different moments: the newest few may lack some, and an agent asked
// too early would say that it has nothing.
void DropUnsettled(diagnosis::JobView& view) {
  std::size_t most = 0;
  for (const auto& summary : view.window) most = std::max(most, summary.ranks.size());
  std::size_t left = view.window.size() - std::min(view.window.size(), kSettlingIterations);
  for (std::size_t i = 0; i < kLateReports && left > 0; ++i) {
    if (view.window[left - 1].ranks.size() == most) break;
    --left;
  }
  view.window.resize(left);
}

diagnosis::RowsWanted WantedFor(const std::vector<Picture>& pictures,
                                const std::set<RankId>& ranks) {
  diagnosis::RowsWanted wanted;
  wanted.ranks.assign(ranks.begin(), ranks.end());
  for (const Picture& picture : pictures) wanted.iterations.push_back(picture.iteration);
  return wanted;
}

bool Holds(const diagnosis::JobView& view, Iteration iteration) {
  return std::ranges::any_of(view.window,
                             [&](const auto& each) { return each.index == iteration; });
}

// "154,151": those iterations; nothing for what is no such list, empty for an empty text.
std::optional<std::vector<Picture>> ParsePictures(const std::string& text) {
  std::vector<Picture> pictures;
  if (text.empty()) return pictures;
  for (const auto& each : absl::StrSplit(text, ',')) {
    std::int64_t iteration = -1;
    if (!absl::SimpleAtoi(each, &iteration) || iteration < 0) return std::nullopt;
    if (pictures.size() == kMostPictures) return std::nullopt;
    pictures.push_back({Iteration(iteration), "chosen"});
  }
  return pictures;
}

void WriteWanted(const std::vector<Picture>& pictures, JsonWriter& json) {
  json.Key("wanted").BeginArray();
  for (const Picture& picture : pictures) {
    json.BeginObject().Field("index", picture.iteration.value);
    json.Field("why", picture.why).EndObject();
  }
  json.EndArray();
}

}  // namespace

Response Api::Pictures(const std::shared_ptr<JobState>& job, const Request& request) const {
  auto pictures = ParsePictures(request.Text("iteration"));
  const auto rank = request.Number("rank", -1);
  if (!pictures || !rank || *rank >= static_cast<std::int64_t>(kMaxWorldSize)) {
    return Response::Error(400, "iteration is a number or up to four, rank a number");
  }
  diagnosis::JobView view = job->View(parts_.diagnoser.Connected());
  DropUnsettled(view);
  for (const Picture& picture : *pictures) {
    if (Holds(view, picture.iteration)) continue;
    return Response::Error(404, "iteration " + std::to_string(picture.iteration.value) +
                                    " is not kept op by op; \"kept\" names those that are");
  }
  const auto verdicts = parts_.ledger.Of(job->name());
  if (pictures->empty()) pictures = WorthAPicture(view, verdicts);
  std::vector<RankId> first;
  if (*rank >= 0) first.push_back(RankId(static_cast<std::uint32_t>(*rank)));
  const auto ranks = RanksToDraw(RanksOf(view), verdicts, first);
  const auto wanted = WantedFor(*pictures, ranks);
  const int asked = parts_.rows && !wanted.empty() ? parts_.rows(job, wanted) : 0;
  job->FillShownRows(wanted, view);
  JsonWriter json;
  json.BeginObject().Field("job", job->name()).Field("asked", asked).Key("kept").BeginArray();
  for (const auto& summary : view.window) json.Value(summary.index.value);
  json.EndArray();
  WriteWanted(*pictures, json);
  json.Key("pictures");
  WritePictures(view, *pictures, ranks, json);
  return Response::Json(json.EndObject().Take());
}

Response Api::Work(const JobState& job) const {
  const JobWork work = job.Work();
  return Response::Json(
      WorkJson(job.name(), work, job.WorkOfRanks(), PeakOfRank(job, work, parts_.store)));
}

Response Api::Bandwidth(const std::shared_ptr<JobState>& job, const Request& request) const {
  const auto chosen = ParsePictures(request.Text("iteration"));
  if (!chosen) return Response::Error(400, "iteration is a number or up to four");
  diagnosis::JobView view = job->View(parts_.diagnoser.Connected());
  DropUnsettled(view);
  diagnosis::RowsWanted wanted{RanksOf(view), {}};
  wanted.ranks.resize(std::min(wanted.ranks.size(), kMostBandwidthRanks));
  for (const Picture& each : *chosen) wanted.iterations.push_back(each.iteration);
  if (chosen->empty()) {
    const std::size_t newest = std::min(kMostPictures, view.window.size());
    for (auto it = view.window.rbegin(); wanted.iterations.size() < newest; ++it) {
      wanted.iterations.push_back(it->index);
    }
  }
  const int asked = parts_.rows && !wanted.iterations.empty() ? parts_.rows(job, wanted) : 0;
  job->FillShownRows(wanted, view);
  return Response::Json(BandwidthJson(view, wanted, asked));
}

Response Api::Perfetto(const JobState& job) const {
  diagnosis::JobView view = job.View(parts_.diagnoser.Connected());
  diagnosis::RowsWanted wanted{RanksOf(view), {}};
  for (const auto& summary : view.window) wanted.iterations.push_back(summary.index);
  job.FillShownRows(wanted, view);
  auto bytes = PerfettoBytes({view, parts_.ledger.Of(job.name())});
  if (!bytes.ok()) return Response::Error(503, std::string(bytes.status().message()));
  return {200, "application/octet-stream", *std::move(bytes), ""};
}

Response Api::Communicators(const JobState& job, const Request& request) const {
  const auto last = request.Number("last", kDefaultCommunicatorIterations);
  if (!last || *last < 1 || *last > static_cast<std::int64_t>(kMaxSlots)) {
    return Response::Error(400, "last is a number from 1 to 96");
  }
  return Response::Json(
      CommunicatorsJson(job.View(parts_.diagnoser.Connected()), static_cast<std::size_t>(*last)));
}

Response Api::Actions(const Request& request) const {
  if (request.method == "POST") {
    if (!parts_.command) return Response::Error(404, "there is no fathom-cordon here");
    return parts_.command(request);
  }
  if (request.segments.size() > 3) return Response::Error(404, "commands are sent by POST");
  if (!parts_.actions) return Response::Json(R"({"state":"off"})");
  return Response::Json(parts_.actions(request));
}

}  // namespace fathom::collector
