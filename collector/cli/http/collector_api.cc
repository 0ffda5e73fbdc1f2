#include "collector/cli/http/collector_api.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

absl::Status NotOurs(const HostPort& server, std::string_view why) {
  return absl::InternalError(Cat("what answers at ", server.ToString(),
                                 " is not a fathom-collector of this API (", why,
                                 "); give its HTTP address with --collector-http HOST:PORT"));
}

absl::Status FromHttp(const HostPort& server, const HttpReply& reply) {
  const Json body = Json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  const std::string text = TextField(body, "error");
  if (text.empty()) return NotOurs(server, Cat("HTTP status ", reply.status));
  if (reply.status == 404) return absl::NotFoundError(text);
  if (reply.status < 500) return absl::InvalidArgumentError(text);
  return absl::FailedPreconditionError(text);
}

}  // namespace

std::string UnreachableText(const HostPort& server, const absl::Status& why) {
  return Cat("no collector answers at ", server.ToString(), " (", why.message(),
             "); start fathom-collector, or name another with --collector-http HOST:PORT");
}

absl::StatusOr<Json> CollectorApi::Fetch(std::string_view path, const char* must_have) const {
  return Read(client_.Get(path), must_have);
}

absl::StatusOr<Json> CollectorApi::Read(const absl::StatusOr<HttpReply>& reply,
                                        const char* must_have) const {
  if (!reply.ok()) {
    if (absl::IsUnavailable(reply.status()) || absl::IsDeadlineExceeded(reply.status())) {
      return absl::UnavailableError(UnreachableText(server(), reply.status()));
    }
    return NotOurs(server(), Message(reply.status()));
  }
  if (reply->status != 200) return FromHttp(server(), *reply);
  Json body = Json::parse(reply->body, nullptr, /*allow_exceptions=*/false);
  if (body.is_discarded()) return NotOurs(server(), "not JSON");
  if (!body.is_object()) return NotOurs(server(), "not a JSON object");
  if (*must_have != '\0' && !body.contains(must_have)) {
    return NotOurs(server(), Cat("no field '", must_have, "'"));
  }
  return body;
}

absl::StatusOr<Json> CollectorApi::FetchJob(std::string_view job, std::string_view part) const {
  return Fetch(Cat("/api/v1/jobs/", PercentEncode(job), part), "");
}

absl::StatusOr<Json> CollectorApi::AskCapture(std::string_view job, std::int64_t seconds,
                                              std::int64_t iterations, bool native,
                                              std::string_view ranks) const {
  const std::string path = Cat("/api/v1/jobs/", PercentEncode(job), "/capture?seconds=", seconds,
                               "&iterations=", iterations, native ? "&native=1" : "",
                               ranks.empty() ? "" : Cat("&ranks=", PercentEncode(ranks)));
  return Read(client_.Post(path, "{}"), "ranks");
}

absl::StatusOr<Json> CollectorApi::AskProfile(std::string_view job, std::int64_t seconds,
                                              std::int64_t iterations,
                                              std::string_view ranks) const {
  const std::string path =
      Cat("/api/v1/jobs/", PercentEncode(job), "/profile?seconds=", seconds,
          "&iterations=", iterations, ranks.empty() ? "" : Cat("&ranks=", PercentEncode(ranks)));
  return Read(client_.Post(path, "{}"), "ranks");
}

absl::StatusOr<Json> CollectorApi::AskTrace(std::string_view job, std::string_view off,
                                            std::string_view on, std::string_view ranks) const {
  const std::string path =
      Cat("/api/v1/jobs/", PercentEncode(job), "/trace?off=", PercentEncode(off),
          "&on=", PercentEncode(on), "&ranks=", PercentEncode(ranks));
  return Read(client_.Post(path, "{}"), "ranks");
}

absl::StatusOr<Json> CollectorApi::AskStacks(std::string_view job, std::string_view ranks) const {
  const std::string path =
      Cat("/api/v1/jobs/", PercentEncode(job), "/stacks?ranks=", PercentEncode(ranks));
  return Read(client_.Post(path, "{}"), "ranks");
}

absl::Status CollectorApi::TellRecovery(std::string_view job, std::string_view told) const {
  const std::string path = Cat("/api/v1/jobs/", PercentEncode(job), "/recovery");
  return Read(client_.Post(path, told), "kept").status();
}

absl::StatusOr<Json> CollectorApi::ProbeOrder(std::string_view id) const {
  return Fetch(Cat("/api/v1/probes/", PercentEncode(id)), "runs");
}

absl::StatusOr<Json> CollectorApi::NodeProbes(std::string_view name) const {
  return Fetch(Cat("/api/v1/nodes/", PercentEncode(name), "/probes"), "probes");
}

absl::StatusOr<Json> CollectorApi::Order(std::string_view path, const char* must_have) const {
  return Read(client_.Post(path, "{}"), must_have);
}

absl::StatusOr<Json> CollectorApi::Verdicts(std::string_view job, bool active_only) const {
  std::string query;
  if (!job.empty()) AppendTo(&query, "?job=", PercentEncode(job));
  if (active_only) AppendTo(&query, query.empty() ? "?" : "&", "active=1");
  return Fetch(Cat("/api/v1/verdicts", query), "verdicts");
}

absl::StatusOr<Json> CollectorApi::Bandwidth(std::string_view job,
                                             std::string_view iterations) const {
  return FetchJob(job, Cat("/bandwidth?iteration=", iterations));
}

absl::StatusOr<Json> CollectorApi::Work(std::string_view job) const {
  return FetchJob(job, "/work");
}

absl::StatusOr<Json> CollectorApi::Runs(std::string_view job) const {
  return Fetch(job.empty() ? "/api/v1/runs" : Cat("/api/v1/runs?job=", PercentEncode(job)), "runs");
}

absl::StatusOr<Json> CollectorApi::Plan(const std::string& node, const std::string& job) const {
  std::string query;
  if (!node.empty()) AppendTo(&query, "?node=", PercentEncode(node));
  if (!job.empty()) AppendTo(&query, query.empty() ? "?" : "&", "job=", PercentEncode(job));
  return Fetch(Cat("/api/v1/plan", query), "plan");
}

absl::StatusOr<Json> CollectorApi::Losses(std::int64_t hours) const {
  return Fetch(Cat("/api/v1/losses?hours=", hours), "by_cause");
}

absl::StatusOr<Json> CollectorApi::CompareRuns(std::string_view before,
                                               std::string_view after) const {
  const std::string path =
      Cat("/api/v1/runs/", PercentEncode(after), "/against/", PercentEncode(before));
  return Fetch(path, "changed");
}

absl::StatusOr<Json> CollectorApi::Node(std::string_view name) const {
  return Fetch(Cat("/api/v1/nodes/", PercentEncode(name)), "verdicts");
}

absl::StatusOr<Json> CollectorApi::Verdict(std::string_view id) const {
  return Fetch(Cat("/api/v1/verdicts/", PercentEncode(id)), "");
}

std::string CollectorApi::EventsPath(std::string_view job) {
  return job.empty() ? "/api/v1/events" : Cat("/api/v1/events?job=", PercentEncode(job));
}

}  // namespace fathom::cli
