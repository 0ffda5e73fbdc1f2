#include "collector/cordon/serve/cordon_api.h"

#include "collector/http/json_text.h"
#include "collector/http/json_writer.h"
#include "collector/metrics/login_metric.h"
#include "collector/metrics/metric_page.h"

namespace fathom::cordon {
namespace {

using collector::JsonWriter;
using collector::Response;
using Segments = std::vector<std::string>;

std::string_view Quoted(const std::string& text) { return text; }

int StatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    default:
      return 503;
  }
}

Response Refused(const absl::Status& status) {
  return Response::Error(StatusOf(status), std::string(status.message()));
}

void WriteStanding(const Actuator::Standing& s, const std::string& backend, JsonWriter& json) {
  json.Field("backend", Quoted(backend)).Field("paused", Quoted(s.paused));
  json.Field("tripped", Quoted(s.tripped)).Field("held", s.held);
  json.Field("last_look_unix_ns", s.last_look.ns).Key("problems").BeginArray();
  for (const std::string& problem : s.problems) json.Value(Quoted(problem));
  json.EndArray();
}

}  // namespace

Response CordonApi::Answer(const CordonRequest& request) const {
  Actuator* actuator = actuator_;
  const Segments& path = request.line.segments;
  if (path == Segments{"healthz"}) return Response::Json(R"({"status":"ok"})");
  if (path == Segments{"readyz"}) return Ready(actuator);
  const bool reads = request.line.method == "GET" || request.line.method == "HEAD";
  const auto person =
      login_.Admit(request.who, reads ? collector::Role::kViewer : collector::Role::kOperator);
  if (!person.ok()) return Refused(person.status());
  if (path == Segments{"metrics"}) {
    return {200, "text/plain; version=0.0.4; charset=utf-8", Metrics(actuator), ""};
  }
  if (path.size() < 3 || path[0] != "api" || path[1] != "v1") {
    return Response::Error(404, "there is no such path; see docs/operations/cordon.md");
  }
  if (actuator == nullptr) {
    return Response::Error(503, "standby: another fathom-cordon holds the audit log");
  }
  const bool list = path.size() == 3 && (path[2] == "actions" || path[2] == "plan");
  if (list && reads) {
    return path[2] == "plan" ? Plan(*actuator) : Actions(*actuator);
  }
  if (request.line.method != "POST") return Response::Error(405, "only GET lists and POST");
  return Change(*actuator, request, person->name);
}

Response CordonApi::Change(Actuator& actuator, const CordonRequest& request,
                           const std::string& person) const {
  const Segments& path = request.line.segments;
  const std::string reason = collector::JsonText(request.line.body, "reason");
  absl::Status status = absl::NotFoundError("there is no such command");
  if (path.size() == 5 && path[2] == "actions" && path[4] == "approve") {
    status = actuator.Approve(path[3], person);
  } else if (path.size() == 5 && path[2] == "actions" && path[4] == "undo") {
    status = actuator.Undo(path[3], person);
  } else if (path.size() == 3 && path[2] == "pause") {
    if (reason.empty()) return Response::Error(400, "a pause needs a reason");
    status = actuator.Command(RecordKind::kPaused, person + ": " + reason, person);
  } else if (path.size() == 3 && path[2] == "resume") {
    status = actuator.Command(RecordKind::kResumed, reason, person);
  } else if (path.size() == 3 && path[2] == "reset") {
    status = actuator.Command(RecordKind::kReset, reason, person);
  }
  return status.ok() ? Response::Json(R"({"done":true})") : Refused(status);
}

Response CordonApi::Actions(const Actuator& actuator) const {
  const auto standing = actuator.Stand();
  JsonWriter json;
  json.BeginObject();
  WriteStanding(standing, backend_, json);
  json.Key("actions").BeginArray();
  for (const Action& a : standing.actions) {
    json.BeginObject().Field("id", Quoted(a.id)).Field("node", Quoted(a.node));
    json.Field("entity", Quoted(a.entity)).Field("cause", Quoted(a.cause));
    json.Field("verdict", Quoted(a.episode)).Field("job", Quoted(a.job));
    json.Field("mode", Quoted(a.mode)).Field("phase", ToString(a.phase));
    json.Field("actor", Quoted(a.actor)).Field("text", Quoted(a.text));
    json.Field("changed_unix_ns", a.changed.ns).Field("evidence", Quoted(a.evidence)).EndObject();
  }
  return Response::Json(json.EndArray().EndObject().Take());
}

Response CordonApi::Plan(const Actuator& actuator) const {
  const auto standing = actuator.Stand();
  JsonWriter json;
  json.BeginObject();
  WriteStanding(standing, backend_, json);
  json.Key("plan").BeginArray();
  for (const Outlook& o : standing.outlooks) {
    json.BeginObject().Field("action", Quoted(o.action)).Field("node", Quoted(o.node));
    json.Field("entity", Quoted(o.entity)).Field("cause", Quoted(o.cause));
    json.Field("verdict", Quoted(o.episode)).Field("job", Quoted(o.job));
    json.Field("mode", Quoted(o.mode)).Field("phase", Quoted(o.phase));
    json.Field("hindrance", Quoted(o.hindrance)).Field("evidence", Quoted(o.evidence)).EndObject();
  }
  return Response::Json(json.EndArray().EndObject().Take());
}

Response CordonApi::Ready(const Actuator* actuator) const {
  JsonWriter json;
  json.BeginObject().Field("ready", actuator != nullptr).Key("degraded").BeginArray();
  if (actuator == nullptr) {
    json.Value("standby: another fathom-cordon holds the audit log");
  } else {
    for (const std::string& problem : actuator->Problems()) json.Value(Quoted(problem));
  }
  Response response = Response::Json(json.EndArray().EndObject().Take());
  if (actuator == nullptr) response.status = 503;
  return response;
}

std::string CordonApi::Metrics(const Actuator* actuator) const {
  const auto s = actuator == nullptr ? Actuator::Standing() : actuator->Stand();
  collector::MetricPage page;
  auto actions =
      page.Counter("fathom_actions_total", "Steps taken on nodes, by what came of them.");
  actions.Set(0, {{"backend", backend_}, {"mode", "none"}, {"result", "none"}});
  for (const auto& [key, count] : s.counts) {
    actions.Set(static_cast<double>(count),
                {{"backend", backend_}, {"mode", key.first}, {"result", key.second}});
  }
  page.Gauge("fathom_cordon_active", "1 for the fathom-cordon that acts, 0 for a standby.")
      .Set(actuator != nullptr);
  page.Gauge("fathom_cordon_held_nodes", "Nodes that fathom holds back.")
      .Set(static_cast<double>(s.held));
  page.Gauge("fathom_cordon_paused", "1 while a person has paused all actions.")
      .Set(!s.paused.empty());
  page.Gauge("fathom_cordon_tripped", "1 while the breaker stops all actions.")
      .Set(!s.tripped.empty());
  page.Gauge("fathom_cordon_problems", "What went wrong in the last look.")
      .Set(static_cast<double>(s.problems.size()));
  page.Gauge("fathom_cordon_last_look_timestamp_seconds",
             "The last look at which collector and back-end both answered.")
      .Set(static_cast<double>(s.last_look.ns) * 1e-9);
  collector::WriteLoginFailures(login_.failures(), page);
  page.Gauge("fathom_build_info", "The version that runs; the value is 1.")
      .Set(1, {{"version", FATHOM_VERSION}, {"component", "cordon"}});
  return page.Text();
}

}  // namespace fathom::cordon
