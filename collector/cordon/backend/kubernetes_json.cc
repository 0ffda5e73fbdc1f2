#include "collector/cordon/backend/kubernetes_json.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "collector/cordon/backend/kubernetes.h"
#include "collector/http/json_writer.h"
#include "daemon/service/rfc3339.h"

namespace fathom::cordon {
namespace {

using Json = nlohmann::json;

constexpr char kAnnotation[] = "fathom.dev/held-by";
constexpr char kAnnotationPath[] = "/metadata/annotations/fathom.dev~1held-by";
constexpr char kTaint[] = "fathom.dev/suspect";

// Whole seconds: what metav1.Time takes.
std::string Seconds(WallNs now) { return service::Rfc3339(now).substr(0, 19) + "Z"; }

const Json& At(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto at = object.find(name);
  return at == object.end() ? none : *at;
}

// Never throws: what is no UTF-8 is replaced.
std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string Text(const Json& object, const char* name) {
  const Json& value = At(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

bool IsReady(const Json& node) {
  for (const Json& condition : At(At(node, "status"), "conditions")) {
    if (Text(condition, "type") == "Ready") return Text(condition, "status") == "True";
  }
  return false;
}

std::string Note(const Json& node) {
  std::string note = At(At(node, "spec"), "unschedulable") == true ? "unschedulable" : "";
  for (const Json& taint : At(At(node, "spec"), "taints")) {
    note.append(note.empty() ? "" : " ").append(Text(taint, "key")).append(":");
    note.append(Text(taint, "effect"));
  }
  return note;
}

Json Operation(const char* op, const std::string& path, Json value) {
  return {{"op", op}, {"path", path}, {"value", std::move(value)}};
}

// Every patch begins so: it fits the node as it was read, or not at all.
Json SameNode(const Json& node) {
  Json patch = Json::array();
  const Json& metadata = At(node, "metadata");
  patch.push_back(
      Operation("test", "/metadata/resourceVersion", Text(metadata, "resourceVersion")));
  patch.push_back(Operation("test", "/metadata/uid", Text(metadata, "uid")));
  return patch;
}

// Where our taint stands in the list; -1: nowhere. An API server takes no second one of its kind.
int OurTaint(const Json& spec) {
  const Json& taints = At(spec, "taints");
  for (std::size_t i = 0; taints.is_array() && i < taints.size(); ++i) {
    if (Text(taints[i], "key") == kTaint && Text(taints[i], "effect") == "NoSchedule") {
      return static_cast<int>(i);
    }
  }
  return -1;
}

absl::StatusOr<Json> ParseNode(std::string_view text) {
  Json node = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (Text(At(node, "metadata"), "resourceVersion").empty()) {
    return absl::FailedPreconditionError("the answer is no node");
  }
  return node;
}

NodeFact FactOf(const Json& item, const std::string& rack_label) {
  const Json& metadata = At(item, "metadata");
  NodeFact node;
  node.name = Text(metadata, "name");
  node.withheld = At(At(item, "spec"), "unschedulable") == true;
  node.healthy = IsReady(item);
  node.owner = node.withheld ? Text(At(metadata, "annotations"), kAnnotation) : "";
  node.note = Note(item);
  node.rack = Text(At(metadata, "labels"), rack_label.c_str());
  node.partitions.push_back("all");
  return node;
}

// The server's own error in a watch.
absl::Status WatchError(const Json& status) {
  const std::string said = "the watch of nodes ended: " + Text(status, "message");
  return At(status, "code") == 410 ? absl::OutOfRangeError(said) : absl::UnavailableError(said);
}

absl::Status FoldEvent(std::string_view line, const std::string& rack_label,
                       std::map<std::string, NodeFact>& nodes, std::string& version) {
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const std::string type = Text(event, "type");
  const Json& object = At(event, "object");
  if (type == "ERROR") return WatchError(object);
  const std::string at = Text(At(object, "metadata"), "resourceVersion");
  const bool known = type == "ADDED" || type == "MODIFIED" || type == "DELETED";
  const NodeFact node = FactOf(object, rack_label);
  if (at.empty() || (known ? node.name.empty() : type != "BOOKMARK")) {
    return absl::InvalidArgumentError("the watch of nodes answers with what is no event");
  }
  version = at;
  if (type == "DELETED") nodes.erase(node.name);
  if (known && type != "DELETED") nodes[node.name] = node;
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadKubernetesEvents(std::string_view lines, const std::string& rack_label,
                                  std::map<std::string, NodeFact>& nodes, std::string& version) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.empty()) continue;
    if (auto status = FoldEvent(line, rack_label, nodes, version); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadKubernetesNodes(std::string_view text, const std::string& rack_label,
                                 std::map<std::string, NodeFact>& nodes, std::string& version) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!At(json, "items").is_array()) {
    return absl::InvalidArgumentError("the answer has no list of nodes");
  }
  for (const Json& item : At(json, "items")) {
    const NodeFact node = FactOf(item, rack_label);
    if (node.name.empty()) return absl::InvalidArgumentError("a node has no name");
    nodes[node.name] = node;
  }
  version = Text(At(json, "metadata"), "resourceVersion");
  return absl::OkStatus();
}

absl::StatusOr<std::string> HoldPatch(std::string_view text, const Hold& hold) {
  const auto node = ParseNode(text);
  if (!node.ok()) return node.status();
  const Json& spec = At(*node, "spec");
  const Json& annotations = At(At(*node, "metadata"), "annotations");
  if (At(spec, "unschedulable") == true) {
    if (Text(annotations, kAnnotation) == hold.action) return absl::AlreadyExistsError(hold.node);
    return absl::FailedPreconditionError(hold.node + " is cordoned already: " + Note(*node));
  }
  Json patch = SameNode(*node);
  const Json taint = {{"key", kTaint}, {"value", hold.cause}, {"effect", "NoSchedule"}};
  if (!annotations.is_object()) {
    patch.push_back(Operation("add", "/metadata/annotations", Json::object()));
  }
  patch.push_back(Operation("add", kAnnotationPath, hold.action));
  patch.push_back(Operation("add", "/spec/unschedulable", true));
  if (const int at = OurTaint(spec); at >= 0) {
    patch.push_back(Operation("replace", absl::StrCat("/spec/taints/", at), taint));
  } else if (At(spec, "taints").is_array()) {
    patch.push_back(Operation("add", "/spec/taints/-", taint));
  } else {
    patch.push_back(Operation("add", "/spec/taints", Json::array({taint})));
  }
  return TextOf(patch);
}

namespace {

// Takes away annotation and taint; nothing else of the node.
absl::StatusOr<Json> WithoutOurs(const Json& node, const std::string& action) {
  if (Text(At(At(node, "metadata"), "annotations"), kAnnotation) != action) {
    return absl::FailedPreconditionError("the node no longer carries our annotation");
  }
  Json patch = SameNode(node);
  patch.push_back(Operation("test", kAnnotationPath, action));
  patch.push_back({{"op", "remove"}, {"path", kAnnotationPath}});
  if (const int at = OurTaint(At(node, "spec")); at >= 0) {
    const std::string path = absl::StrCat("/spec/taints/", at);
    patch.push_back(Operation("test", path + "/key", kTaint));
    patch.push_back({{"op", "remove"}, {"path", path}});
  }
  return patch;
}

}  // namespace

absl::StatusOr<std::string> ReleasePatch(std::string_view text, const std::string& action) {
  const auto node = ParseNode(text);
  if (!node.ok()) return node.status();
  auto patch = WithoutOurs(*node, action);
  if (!patch.ok()) return patch.status();
  patch->push_back(Operation("add", "/spec/unschedulable", false));
  return TextOf(*patch);
}

absl::StatusOr<std::string> ForgetPatch(std::string_view text, const std::string& action) {
  const auto node = ParseNode(text);
  if (!node.ok()) return node.status();
  const auto patch = WithoutOurs(*node, action);
  return patch.ok() ? absl::StatusOr<std::string>(TextOf(*patch)) : patch.status();
}

std::string ConditionPatch(const Hold& hold, bool held, WallNs now) {
  const Json condition = {{"type", "FathomSuspect"},
                          {"status", held ? "True" : "False"},
                          {"reason", held ? "Verdict" : "Released"},
                          {"message", absl::StrCat(hold.cause, " ", hold.episode, ": ",
                                                   collector::CutText(hold.sentence, 500))},
                          {"lastTransitionTime", Seconds(now)},
                          {"lastHeartbeatTime", Seconds(now)}};
  return TextOf(Json{{"status", {{"conditions", Json::array({condition})}}}});
}

std::string EventJson(const Hold& hold, bool held, WallNs now) {
  return TextOf(
      Json{{"apiVersion", "v1"},
           {"kind", "Event"},
           {"metadata", {{"generateName", "fathom-cordon-"}, {"namespace", "default"}}},
           {"involvedObject", {{"kind", "Node"}, {"name", hold.node}, {"uid", hold.node}}},
           {"reason", held ? "FathomCordoned" : "FathomReleased"},
           {"message", absl::StrCat(hold.action, " ", hold.cause, " ", hold.episode, ": ",
                                    collector::CutText(hold.sentence, 500))},
           {"type", held ? "Warning" : "Normal"},
           {"source", {{"component", "fathom-cordon"}}},
           {"firstTimestamp", Seconds(now)},
           {"lastTimestamp", Seconds(now)},
           {"count", 1}});
}

}  // namespace fathom::cordon
