#include "collector/cordon/advice/advice_source.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "collector/http/json_writer.h"
#include "collector/net/masked_url.h"
#include "collector/net/token_file.h"

namespace fathom::cordon {
namespace {

using Json = nlohmann::json;

std::string Text(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

// "rank 3", "ranks 2 3", with the GPU where one is named: what the verdict is about.
std::string EntityName(const Json& entity) {
  std::string name = Text(entity, "type");
  const auto ranks = entity.find("ranks");
  if (ranks != entity.end() && ranks->is_array()) {
    for (const Json& rank : *ranks) name.append(" ").append(rank.is_number() ? rank.dump() : "?");
  }
  if (const std::string gpu = Text(entity, "gpu"); !gpu.empty()) name.append(" gpu ").append(gpu);
  return collector::CutText(name, 200);
}

// 64-bit numbers are texts in the JSON of verdicts. Not known: 0.
std::int64_t Time(const Json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return 0;
  if (at->is_number_integer()) return at->get<std::int64_t>();
  std::int64_t value = 0;
  return at->is_string() && absl::SimpleAtoi(at->get<std::string>(), &value) ? value : 0;
}

// Infinite where the collector does not tell, or tells of a moment that is to come.
double UnseenFor(std::int64_t now_ns, std::int64_t seen_ns) {
  constexpr double kSlack_s = 1;
  const double unseen_s = (static_cast<double>(now_ns) - static_cast<double>(seen_ns)) * 1e-9;
  if (now_ns <= 0 || seen_ns <= 0 || unseen_s < -kSlack_s) {
    return std::numeric_limits<double>::infinity();
  }
  return std::max(0.0, unseen_s);
}

bool ReadVerdict(const Json& json, std::int64_t now_ns, VerdictFact& fact) {
  if (!json.is_object()) return false;
  const auto entity = json.find("entity");
  fact.id = Text(json, "id");
  fact.job = Text(json, "job");
  fact.grade = Text(json, "grade");
  fact.cause = Text(json, "cause");
  fact.sentence = Text(json, "sentence");
  fact.closed_because = Text(json, "closed_because");
  fact.open = fact.closed_because.empty() && !json.contains("until");
  if (entity == json.end() || !entity->is_object() || fact.id.empty()) return false;
  fact.entity_type = Text(*entity, "type");
  fact.entity = EntityName(*entity);
  fact.node = Text(*entity, "node");
  fact.unseen_s = UnseenFor(now_ns, Time(json, "seen_unix_ns"));
  const auto proof = json.find("proof");
  if (proof != json.end() && proof->is_object()) fact.proof = Text(*proof, "state");
  const auto authenticated = json.find("authenticated");
  fact.authenticated =
      authenticated != json.end() && authenticated->is_boolean() && authenticated->get<bool>();
  return true;
}

}  // namespace

absl::Status ReadVerdictsJson(std::string_view text, View& view) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto list = json.is_object() ? json.find("verdicts") : json.end();
  if (!json.is_object() || list == json.end() || !list->is_array()) {
    return absl::InvalidArgumentError("the answer has no list of verdicts");
  }
  const std::int64_t now_ns = Time(json, "now_unix_ns");
  for (const Json& each : *list) {
    VerdictFact fact;
    if (!ReadVerdict(each, now_ns, fact))
      return absl::InvalidArgumentError("a verdict cannot be read");
    view.verdicts.push_back(std::move(fact));
  }
  return absl::OkStatus();
}

absl::Status ReadJobJson(std::string_view text, std::set<std::string>& nodes, bool& runs) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto ranks = json.is_object() ? json.find("rank_info") : json.end();
  if (!json.is_object() || ranks == json.end() || !ranks->is_array()) {
    return absl::InvalidArgumentError("the answer has no rank_info");
  }
  const std::string state = Text(json, "state");
  runs = !state.empty() && state != "ended";
  for (const Json& rank : *ranks) {
    if (!rank.is_object()) return absl::InvalidArgumentError("a rank cannot be read");
    if (const std::string node = Text(rank, "node"); !node.empty()) nodes.insert(node);
  }
  return absl::OkStatus();
}

absl::Status AdviceSource::Get(const std::string& path, std::string& body) {
  const auto answer =
      transport_.Send({"GET", url_ + path, collector::BearerHeaders(token_file_), "", 5});
  if (!answer.ok()) return answer.status();
  if (answer->status == 404) return absl::NotFoundError(path);
  if (answer->status == 401) {
    return absl::UnavailableError(
        absl::StrCat(collector::MaskedUrl(url_),
                     " asks for a login; give a viewer's token with collector_token_file"));
  }
  if (answer->status != 200) {
    return absl::UnavailableError(
        absl::StrCat(collector::MaskedUrl(url_), path, ": HTTP status ", answer->status));
  }
  body = answer->body;
  return absl::OkStatus();
}

absl::Status AdviceSource::ReadVerdicts(const std::string& path, View& view) {
  std::string body;
  if (auto status = Get(path, body); !status.ok()) return status;
  return ReadVerdictsJson(body, view);
}

absl::Status AdviceSource::ReadJob(const std::string& job, View& view) {
  std::string body;
  const absl::Status status = Get("/api/v1/jobs/" + collector::PercentEncoded(job), body);
  if (absl::IsNotFound(status)) return absl::OkStatus();  // it ended, or is not heard of any more
  if (!status.ok()) return status;
  std::set<std::string> nodes;
  bool runs = false;
  if (auto read = ReadJobJson(body, nodes, runs); !read.ok()) return read;
  for (VerdictFact& fact : view.verdicts) {
    if (fact.job == job) fact.job_runs = runs;
  }
  view.job_nodes[job].assign(nodes.begin(), nodes.end());
  return absl::OkStatus();
}

absl::Status AdviceSource::Read(View& view) {
  if (auto s = ReadVerdicts("/api/v1/verdicts?active=1&limit=1000", view); !s.ok()) return s;
  View all;
  if (auto s = ReadVerdicts("/api/v1/verdicts?limit=1000", all); !s.ok()) return s;
  for (VerdictFact& fact : all.verdicts) {
    if (fact.open) continue;
    // Closed between the two answers: it is closed.
    std::erase_if(view.verdicts, [&](const VerdictFact& v) { return v.id == fact.id; });
    view.verdicts.push_back(std::move(fact));
  }
  for (VerdictFact& fact : view.verdicts) fact.job_runs = false;  // until the collector says so
  std::set<std::string> jobs;
  for (const VerdictFact& fact : view.verdicts) {
    if (fact.open && fact.grade == "established" && jobs.size() < kMaxJobs) jobs.insert(fact.job);
  }
  for (const std::string& job : jobs) {
    if (auto s = ReadJob(job, view); !s.ok()) return s;
  }
  view.verdicts_known = true;
  return absl::OkStatus();
}

}  // namespace fathom::cordon
