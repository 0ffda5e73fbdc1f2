#include "collector/cordon/backend/webhook.h"

#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>

#include "collector/http/json_writer.h"
#include "collector/http/remote_call.h"
#include "collector/net/redacted.h"

namespace fathom::cordon {
namespace {

using collector::AddBearer;
using collector::StatusOfHttp;
using Json = nlohmann::json;

std::string Text(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

bool ReadNode(const Json& json, NodeFact& node) {
  if (!json.is_object()) return false;
  const auto withheld = json.find("withheld"), healthy = json.find("healthy");
  if (withheld == json.end() || !withheld->is_boolean()) return false;
  if (healthy == json.end() || !healthy->is_boolean()) return false;
  node.name = Text(json, "name");
  node.withheld = withheld->get<bool>();
  node.healthy = healthy->get<bool>();
  node.owner = Text(json, "owner");
  node.note = Text(json, "note");
  node.rack = Text(json, "rack");
  const auto partitions = json.find("partitions");
  if (partitions != json.end() && partitions->is_array()) {
    for (const Json& each : *partitions) {
      if (each.is_string()) node.partitions.push_back(each.get<std::string>());
    }
  }
  return !node.name.empty();
}

}  // namespace

absl::Status ReadWebhookNodes(std::string_view text, std::map<std::string, NodeFact>& nodes) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("nodes") || !json["nodes"].is_array()) {
    return absl::InvalidArgumentError("the answer has no list of nodes");
  }
  for (const Json& each : json["nodes"]) {
    NodeFact node;
    if (!ReadNode(each, node)) return absl::InvalidArgumentError("a node cannot be read");
    nodes[node.name] = node;
  }
  return absl::OkStatus();
}

absl::StatusOr<collector::HttpAnswer> WebhookBackend::Send(const std::string& method,
                                                           const std::string& path,
                                                           const std::string& body) const {
  collector::HttpCall call{method, url_ + path, {"Content-Type: application/json"}, body, 10};
  if (auto status = AddBearer(token_file_, call.headers); !status.ok()) return status;
  auto answer = transport_.Send(call);
  if (answer.ok() && answer->status >= 300) {
    answer->body = collector::Redacted(answer->body, url_, call.headers);
  }
  return answer;
}

absl::Status WebhookBackend::Nodes(std::map<std::string, NodeFact>& nodes) {
  const auto answer = Send("GET", "/nodes", "");
  if (!answer.ok()) return answer.status();
  if (auto status = StatusOfHttp(answer->status, answer->body); !status.ok()) return status;
  return ReadWebhookNodes(answer->body, nodes);
}

absl::Status WebhookBackend::Post(const std::string& path, const std::string& body) const {
  const auto answer = Send("POST", path, body);
  return answer.ok() ? StatusOfHttp(answer->status, answer->body) : answer.status();
}

absl::Status WebhookBackend::HoldBack(const Hold& hold) {
  collector::JsonWriter json;
  json.BeginObject().Field("node", std::string_view(hold.node));
  json.Field("action", std::string_view(hold.action)).Field("cause", std::string_view(hold.cause));
  json.Field("verdict", std::string_view(hold.episode));
  json.Field("sentence", std::string_view(hold.sentence)).EndObject();
  return Post("/hold", json.Take());
}

absl::Status WebhookBackend::Release(const std::string& node, const std::string& action) {
  collector::JsonWriter json;
  json.BeginObject().Field("node", std::string_view(node));
  json.Field("action", std::string_view(action)).EndObject();
  return Post("/release", json.Take());
}

std::string WebhookBackend::HoldCommand(const Hold& hold) const {
  return absl::StrCat("ask ", url_, " to hold ", hold.node);
}

}  // namespace fathom::cordon
