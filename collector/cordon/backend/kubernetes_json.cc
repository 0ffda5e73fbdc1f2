#include "collector/cordon/backend/kubernetes_json.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "collector/cordon/backend/kubernetes.h"
#include "collector/http/json_writer.h"
#include "collector/kubernetes/node_hold.h"
#include "daemon/service/rfc3339.h"

namespace fathom::cordon {
namespace {

using kubernetes::At;
using kubernetes::Json;
using kubernetes::TextAt;
using kubernetes::TextOf;

// Whole seconds: what metav1.Time takes.
std::string Seconds(WallNs now) { return service::Rfc3339(now).substr(0, 19) + "Z"; }

NodeFact FactOf(const Json& item, const std::string& rack_label) {
  const Json& metadata = At(item, "metadata");
  NodeFact node;
  node.name = TextAt(metadata, "name");
  node.withheld = kubernetes::IsWithheld(item);
  node.healthy = kubernetes::HasCondition(item, "Ready");
  node.owner = kubernetes::HolderOf(item);
  node.note = kubernetes::NoteOf(item);
  node.rack = TextAt(At(metadata, "labels"), rack_label.c_str());
  node.partitions.push_back("all");
  return node;
}

// The server's own error in a watch.
absl::Status WatchError(const Json& status) {
  const std::string said = "the watch of nodes ended: " + TextAt(status, "message");
  return At(status, "code") == 410 ? absl::OutOfRangeError(said) : absl::UnavailableError(said);
}

absl::Status FoldEvent(std::string_view line, const std::string& rack_label,
                       std::map<std::string, NodeFact>& nodes, std::string& version) {
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const std::string type = TextAt(event, "type");
  const Json& object = At(event, "object");
  if (type == "ERROR") return WatchError(object);
  const std::string at = TextAt(At(object, "metadata"), "resourceVersion");
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
  version = TextAt(At(json, "metadata"), "resourceVersion");
  return absl::OkStatus();
}

absl::StatusOr<std::string> HoldPatch(std::string_view text, const Hold& hold) {
  return kubernetes::HoldPatch(text, {hold.node, hold.action, hold.cause});
}

absl::StatusOr<std::string> ReleasePatch(std::string_view text, const std::string& action) {
  return kubernetes::ReleasePatch(text, action);
}

absl::StatusOr<std::string> ForgetPatch(std::string_view text, const std::string& action) {
  return kubernetes::ForgetPatch(text, action);
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
