#include "collector/api/recovery/recovery_api.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>

#include "collector/recovery/recovery_json.h"
#include "collector/recovery/told_recovery.h"

namespace fathom::collector {
namespace {

using cli::Json;

constexpr std::int64_t kMostHours = 1'000'000;
constexpr std::int64_t kMostSeconds = 1'000'000;
constexpr char kProbesOfSpare[] = "5";  // the newest; the first that measured anything counts
constexpr Nanos kClocksDiffer{3'600'000'000'000};

bool IsOfRecovery(const Request& request) {
  const auto& at = request.segments;
  return at.size() == 5 && at[0] == "api" && at[1] == "v1" && at[2] == "jobs" &&
         at[4] == "recovery";
}

std::string Dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Json> Parsed(const std::string& body) {
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InternalError("an answer that is not JSON");
  return json;
}

// Nothing where a parameter is no number that makes sense.
std::optional<RecoveryWish> WishOf(const Request& request, WallNs now) {
  const auto left = request.Number("left_hours", 0);
  const auto restart = request.Number("restart_seconds", 0);
  if (!left || *left < 0 || *left > kMostHours) return std::nullopt;
  if (!restart || *restart < 0 || *restart > kMostSeconds) return std::nullopt;
  RecoveryWish wish{.left_hours = static_cast<double>(*left), .now_ns = now.ns};
  if (*restart > 0) wish.restart_s = static_cast<double>(*restart);
  wish.restart_assumed = *restart == 0;
  wish.looked = false;  // the job's files are not here
  return wish;
}

}  // namespace

Response RecoveryApi::Answer(const Request& request) const {
  if (!IsOfRecovery(request)) return parts_.rest.Answer(request);
  if (request.method == "POST") return Keep(request);
  if (request.method == "GET" || request.method == "HEAD") return Tell(request);
  return Response::Error(405, "only GET and POST are answered here");
}

Response RecoveryApi::Keep(const Request& request) const {
  const auto refuse = [this](Response response) {
    ++refused_;
    return response;
  };
  if (auto refused = RefusedUnlessJson(request)) return refuse(*std::move(refused));
  auto told = ReadToldRecovery(request.body);
  if (!told.ok()) {
    return refuse(
        Response::Error(400, absl::StrCat("no record of a recovery: ", told.status().message())));
  }
  if (told->job != request.segments[3]) {
    return refuse(Response::Error(400, "the record is of another job"));
  }
  const WallNs now = parts_.clock.Wall();
  if (WallNs(told->times.begun_ns) > now + kClocksDiffer) {
    return refuse(Response::Error(400, "it was begun in the future: look at the clocks"));
  }
  told->told_ns = now.ns;
  told->told_by = request.person.name;
  if (const absl::Status saved = parts_.store.Save(*told); !saved.ok()) {
    return refuse(Response::Error(503, absl::StrCat("not kept: ", saved.message())));
  }
  ++kept_;
  return Response::Json(Dumped({{"kept", told->id}}));
}

absl::StatusOr<Json> RecoveryApi::Ask(const Request& request, std::vector<std::string> segments,
                                      std::map<std::string, std::string> parameters) const {
  Request question;
  question.method = "GET";
  question.segments = std::move(segments);
  for (const std::string& segment : question.segments)
    absl::StrAppend(&question.path, "/", segment);
  question.parameters = std::move(parameters);
  question.person = request.person;
  question.token = request.token;
  const Response answer = parts_.rest.Answer(question);
  if (answer.status != 200) return absl::UnavailableError(answer.body);
  return Parsed(answer.body);
}

absl::StatusOr<RecoveryFacts> RecoveryApi::Facts(const Request& request) const {
  const std::string& job = request.segments[3];
  const auto ask = [this, &request](std::vector<std::string> segments,
                                    std::map<std::string, std::string> parameters = {}) {
    return Ask(request, std::move(segments), std::move(parameters));
  };
  return AskForFacts(
      {.job = [&]() -> absl::StatusOr<Json> {
         const std::vector<std::string> objects = parts_.rest.JobObjects(job);
         if (objects.empty()) return absl::NotFoundError("no job " + job + "; see /api/v1/jobs");
         return Parsed(objects.front());
       },
       .verdicts =
           [&] {
             return ask({"api", "v1", "verdicts"}, {{"job", job}, {"active", "1"}});
           },
       .nodes =
           [&] {
             return ask({"api", "v1", "nodes"});
           },
       .actions =
           [&] {
             return ask({"api", "v1", "actions"});
           },
       .probes =
           [&](const std::string& node) {
             return ask({"api", "v1", "nodes", node, "probes"}, {{"limit", kProbesOfSpare}});
           },
       .anyway = false});
}

Response RecoveryApi::Tell(const Request& request) const {
  const std::string& job = request.segments[3];
  const auto wish = WishOf(request, parts_.clock.Wall());
  if (!wish)
    return Response::Error(400, "left_hours and restart_seconds are numbers from 0 to 1000000");
  const std::vector<ToldRecovery> records = parts_.store.Recoveries(job, kMostTold);
  const absl::StatusOr<RecoveryFacts> facts = Facts(request);
  if (absl::IsNotFound(facts.status()) && records.empty()) {
    return Response::Error(404, std::string(facts.status().message()));
  }
  Json answer = {
      {"job", job}, {"plan", nullptr}, {"why_no_plan", ""}, {"recoveries", Json::array()}};
  if (!facts.ok()) {
    answer["why_no_plan"] = std::string(facts.status().message());
  } else if (facts->job.node.empty()) {
    answer["why_no_plan"] = facts->job.verdict.empty() ? std::string("no verdict stands")
                                                       : absl::StrCat("the verdict names no node (",
                                                                      facts->job.cause, ")");
  } else {
    answer["plan"] = RecoveryJson(facts->job, PlanRecovery(facts->job, facts->nodes, {}, *wish));
  }
  for (const ToldRecovery& record : records)
    answer["recoveries"].push_back(ToldRecoveryJson(record));
  return Response::Json(Dumped(answer));
}

}  // namespace fathom::collector
