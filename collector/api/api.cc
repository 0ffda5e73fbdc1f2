#include "collector/api/api.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "collector/api/job_json.h"
#include "collector/api/web_bundle.h"
#include "collector/export/report.h"
#include "collector/month/loss_account.h"
#include "collector/month/loss_json.h"
#include "collector/runs/run_json.h"

namespace fathom::collector {
namespace {

Response NotFound(const Request& request) {
  return Response::Error(404,
                         "nothing at " + request.path + "; docs/formats/http_api.md lists all");
}

// What stands, as the ledger has it: the store hears of changes only.
void TakeStanding(const VerdictLedger& ledger, std::vector<Episode>& episodes) {
  std::map<std::string, Episode> standing;
  for (Episode& each : ledger.Open()) standing.emplace(each.id, std::move(each));
  for (Episode& each : episodes) {
    const auto at = standing.find(each.id);
    if (each.open() && at != standing.end()) each = std::move(at->second);
  }
}

bool TakesPost(const std::vector<std::string>& at) {
  if (at.size() < 3 || at[0] != "api" || at[1] != "v1") return false;
  if (at[2] == "probes") return at.size() == 3 || (at.size() == 5 && at[4] == "stop");
  if (at[2] == "actions") return at.size() >= 4;
  if (at.size() != 5 || at[2] != "jobs") return false;
  return at[4] == "profile" || at[4] == "capture" || at[4] == "trace" || at[4] == "stacks";
}

}  // namespace

Response Api::Answer(const Request& request) const {
  const auto& at = request.segments;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && !(request.method == "POST" && TakesPost(at))) {
    return Response::Error(405, "only GET is answered here");
  }
  if (at.empty()) return Page(request);
  if (at[0] == "api") return AnswerApi(request);
  if (at.size() == 1 && at[0] == "metrics") {
    return {200, "text/plain; version=0.0.4; charset=utf-8", parts_.metrics(), ""};
  }
  if (at.size() == 1 && at[0] == "healthz") return Response::Json("{\"status\":\"ok\"}");
  if (at.size() == 1 && at[0] == "readyz") return Ready();
  return Page(request);
}

Response Api::AnswerApi(const Request& request) const {
  const auto& at = request.segments;
  if (at.size() < 3 || at[1] != "v1") return NotFound(request);
  if (at[2] == "jobs" && at.size() == 3) return Jobs();
  if (at[2] == "jobs") return AnswerJob(request);
  if (at[2] == "verdicts" && at.size() == 3) return Verdicts(request);
  if (at[2] == "verdicts" && at.size() == 4) return Verdict(at[3]);
  if (at[2] == "actions") return Actions(request);
  if (at[2] == "runs" && at.size() == 3) return Runs(request);
  if (at[2] == "runs" && at.size() == 4) return Run(at[3]);
  if (at[2] == "runs" && at.size() == 6 && at[4] == "against") return CompareRuns(at[5], at[3]);
  if (at[2] == "losses" && at.size() == 3) return Losses(request);
  if (at[2] == "plan" && at.size() == 3) return Plan(request);
  if (at[2] == "nodes" && at.size() == 3) return Nodes();
  if (at[2] == "nodes" && at.size() == 4) return Node(at[3]);
  if (at[2] == "nodes" && at.size() == 5 && at[4] == "probes") return Probes(request);
  if (at[2] == "probes") return Probes(request);
  return NotFound(request);
}

Response Api::Probes(const Request& request) const {
  if (!parts_.probes) return Response::Error(503, "this collector orders no probes");
  return parts_.probes(request);
}

Response Api::Page(const Request& request) {
  for (const WebFile& file : WebBundle()) {
    if (file.path != request.path) continue;
    const std::string etag(file.etag);
    if (request.if_none_match == etag) return {304, std::string(file.type), "", etag};
    return {200, std::string(file.type), std::string(file.bytes), etag};
  }
  return NotFound(request);
}

Response Api::Ready() const {
  const bool ready = parts_.ready();
  JsonWriter json;
  json.BeginObject().Field("ready", ready).Key("degraded").BeginArray();
  for (const std::string& why : {parts_.store.degraded(), parts_.journal_failing()}) {
    if (!why.empty()) json.Value(why);
  }
  json.EndArray().EndObject();
  Response response = Response::Json(json.Take());
  // A store in memory does not keep the collector from doing its work: ready, but it tells.
  response.status = ready ? 200 : 503;
  return response;
}

void Api::AddStanding(const std::function<bool(const Episode&)>& wanted,
                      std::vector<Episode>& episodes) const {
  for (Episode& each : parts_.ledger.Open()) {
    const bool known = std::any_of(episodes.begin(), episodes.end(),
                                   [&](const Episode& other) { return other.id == each.id; });
    if (!known && wanted(each)) episodes.push_back(std::move(each));
  }
}

void Api::WriteLacks(JsonWriter& json) const {
  if (const std::string why = parts_.store.lacks(); !why.empty()) json.Field("lacks", why);
}

std::optional<Response> Api::Unread() const {
  const std::string why = parts_.store.unread();
  if (why.empty()) return std::nullopt;
  return Response::Error(503, "not known now: " + why + "; ask again");
}

Response Api::Verdicts(const Request& request) const {
  const auto limit = request.Number("limit", 200);
  const auto active = request.Number("active", 0);
  if (!limit || !active || *limit < 1 || *limit > kMaxVerdicts) {
    return Response::Error(400, "active is 0 or 1, limit a number from 1 to 1000");
  }
  const std::string job = request.Text("job");
  auto verdicts = parts_.store.Verdicts(job, *active != 0, *limit);
  TakeStanding(parts_.ledger, verdicts);
  const auto of_job = [&](const Episode& each) { return job.empty() || each.job == job; };
  if (!parts_.store.lacks().empty()) AddStanding(of_job, verdicts);
  JsonWriter json;
  json.BeginObject().Field("now_unix_ns", parts_.clock.Wall().ns);
  WriteLacks(json);
  json.Key("verdicts").BeginArray();
  for (const Episode& each : verdicts) json.Raw(VerdictJson(each));
  return Response::Json(json.EndArray().EndObject().Take());
}

Response Api::Verdict(const std::string& id) const {
  const auto episode = parts_.store.Find(id);
  std::vector<Episode> one;
  if (episode) one.push_back(*episode);
  const auto is = [&](const Episode& each) { return each.id == id; };
  AddStanding(is, one);
  if (one.empty()) {
    if (auto unread = Unread()) return *std::move(unread);
    return Response::Error(404, "no verdict " + id + "; see /api/v1/verdicts");
  }
  TakeStanding(parts_.ledger, one);
  return Response::Json(VerdictJson(one[0]));
}

Response Api::Losses(const Request& request) const {
  const auto hours = request.Number("hours", kDefaultLossHours);
  if (!hours || *hours < 1 || *hours > kMaxLossHours) {
    return Response::Error(400, "hours is a number from 1 to 17520, two years");
  }
  const WallNs until = parts_.clock.Wall();
  const WallNs since = until - Nanos::FromSeconds(3600.0 * static_cast<double>(*hours));
  auto verdicts = parts_.store.VerdictsSince(since);
  if (auto unread = Unread()) return *std::move(unread);
  TakeStanding(parts_.ledger, verdicts);
  const auto account = LossesOf(parts_.store.RunTimesSince(since), verdicts,
                                parts_.store.RecoveriesSince(since), since, until);
  return Response::Json(LossJson(account, parts_.store.NodeRecordsSince(since), parts_.node_history,
                                 parts_.store.VerdictsReachBackTo()));
}

bool Api::IsRunning(const RunRecord& run) const {
  if (!parts_.run) return false;
  const RunRecord now = parts_.run(run.job);
  return now.id == run.id && !now.ended;
}

Response Api::Runs(const Request& request) const {
  const auto limit = request.Number("limit", kDefaultRuns);
  if (!limit || *limit < 1 || *limit > kMaxRuns) {
    return Response::Error(400, "limit is a number from 1 to 1000");
  }
  const auto runs = parts_.store.Runs(request.Text("job"), *limit);
  if (auto unread = Unread()) return *std::move(unread);
  JsonWriter json;
  json.BeginObject().Field("now_unix_ns", parts_.clock.Wall().ns).Key("runs").BeginArray();
  for (const RunRecord& run : runs) {
    json.Raw(RunJson(run, IsRunning(run)));
  }
  return Response::Json(json.EndArray().EndObject().Take());
}

Response Api::Run(const std::string& id) const {
  const auto run = parts_.store.FindRun(id);
  if (!run) {
    if (auto unread = Unread()) return *std::move(unread);
    return Response::Error(404, "no run " + id + "; see /api/v1/runs");
  }
  return Response::Json(WholeRunJson(*run, IsRunning(*run)));
}

Response Api::CompareRuns(const std::string& before, const std::string& after) const {
  const auto a = parts_.store.FindRun(before), b = parts_.store.FindRun(after);
  if (!a || !b) {
    if (auto unread = Unread()) return *std::move(unread);
    return Response::Error(404, "no run " + (a ? after : before) + "; see /api/v1/runs");
  }
  return Response::Json(
      ComparedRunsJson(*a, *b, RunJson(*a, IsRunning(*a)), RunJson(*b, IsRunning(*b))));
}

}  // namespace fathom::collector
