#include "collector/cordon/backend/kubernetes.h"

#include <absl/strings/str_cat.h>

#include "collector/cordon/backend/kubernetes_json.h"
#include "collector/cordon/backend/webhook.h"

namespace fathom::cordon {
namespace {

constexpr char kPatch[] = "application/json-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";

}  // namespace

absl::StatusOr<std::string> KubernetesBackend::Send(const std::string& method,
                                                    const std::string& path,
                                                    const std::string& type,
                                                    const std::string& body) const {
  collector::HttpCall call{method, options_.server + path, {}, body, 10};
  if (!type.empty()) call.headers.push_back("Content-Type: " + type);
  call.headers.push_back("Accept: application/json");
  if (auto status = AddBearer(options_.token_file, call.headers); !status.ok()) return status;
  const auto answer = transport_.Send(call);
  if (!answer.ok()) return answer.status();
  if (auto status = StatusOfHttp(answer->status, answer->body); !status.ok()) return status;
  return answer->body;
}

absl::Status KubernetesBackend::Nodes(std::map<std::string, NodeFact>& nodes) {
  const auto body = Send("GET", "/api/v1/nodes", "", "");
  if (!body.ok()) return body.status();
  return ReadKubernetesNodes(*body, options_.rack_label, nodes);
}

absl::Status KubernetesBackend::HoldBack(const Hold& hold) {
  if (!PlainNodeName(hold.node)) return absl::InvalidArgumentError("no name of a node");
  const std::string path = "/api/v1/nodes/" + hold.node;
  const auto before = Send("GET", path, "", "");
  if (!before.ok()) {
    return Certain(before.status())
               ? before.status()
               : absl::FailedPreconditionError(std::string(before.status().message()));
  }
  const auto patch = HoldPatch(*before, hold);
  if (!patch.ok()) return patch.status();
  if (const auto done = Send("PATCH", path, kPatch, *patch); !done.ok()) return done.status();
  Inform(hold, true);
  return absl::OkStatus();
}

absl::Status KubernetesBackend::Release(const std::string& node, const std::string& action) {
  if (!PlainNodeName(node)) return absl::InvalidArgumentError("no name of a node");
  const std::string path = "/api/v1/nodes/" + node;
  const auto before = Send("GET", path, "", "");
  if (!before.ok()) return before.status();
  const auto patch = ReleasePatch(*before, action);
  if (!patch.ok()) return patch.status();
  if (const auto done = Send("PATCH", path, kPatch, *patch); !done.ok()) return done.status();
  Inform({node, action, "released", "", "fathom let the node go"}, false);
  return absl::OkStatus();
}

void KubernetesBackend::Inform(const Hold& hold, bool held) const {
  const WallNs now = clock_.Wall();
  Send("PATCH", absl::StrCat("/api/v1/nodes/", hold.node, "/status"), kStrategic,
       ConditionPatch(hold, held, now))
      .IgnoreError();
  Send("POST", "/api/v1/namespaces/default/events", "application/json", EventJson(hold, held, now))
      .IgnoreError();
}

std::string KubernetesBackend::HoldCommand(const Hold& hold) const {
  return "kubectl cordon " + hold.node;
}

}  // namespace fathom::cordon
