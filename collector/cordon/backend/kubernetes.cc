#include "collector/cordon/backend/kubernetes.h"

#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>

#include "collector/cordon/backend/kubernetes_json.h"

namespace fathom::cordon {

absl::Status KubernetesBackend::Nodes(std::map<std::string, NodeFact>& nodes) {
  const bool goes_on = !version_.empty() && clock_.Mono() - listed_ < kRelist;
  absl::Status status = goes_on ? Watch() : List();
  const bool anew = absl::IsOutOfRange(status) || (goes_on && absl::IsPermissionDenied(status));
  if (anew) status = List();
  if (!status.ok() || !Watches()) version_.clear();
  if (status.ok()) nodes = known_;
  return status;
}

bool KubernetesBackend::Watches() const {
  return options_.watch && (!unwatched_.known() || clock_.Mono() - unwatched_ >= kRelist);
}

absl::Status KubernetesBackend::List() {
  const auto body = client_.Send("GET", "/api/v1/nodes");
  if (!body.ok()) return body.status();
  known_.clear();
  listed_ = clock_.Mono();
  return ReadKubernetesNodes(*body, options_.rack_label, known_, version_);
}

absl::Status KubernetesBackend::Watch() {
  const auto body =
      client_.Send("GET", absl::StrCat("/api/v1/nodes?watch=1&allowWatchBookmarks=true"
                                       "&timeoutSeconds=1&resourceVersion=",
                                       collector::PercentEncoded(version_)));
  if (absl::IsPermissionDenied(body.status())) {
    spdlog::warn("nodes are listed at each look: {}", std::string(body.status().message()));
    unwatched_ = clock_.Mono();
  }
  if (!body.ok()) return body.status();
  return ReadKubernetesEvents(*body, options_.rack_label, known_, version_);
}

absl::Status KubernetesBackend::Change(const std::string& node,
                                       const kubernetes::ApiClient::PatchOf& patch_of) {
  if (!PlainNodeName(node)) return absl::InvalidArgumentError("no name of a node");
  version_.clear();
  return client_.Change("/api/v1/nodes/" + node, patch_of).status();
}

absl::Status KubernetesBackend::HoldBack(const Hold& hold) {
  const absl::Status done =
      Change(hold.node, [&](const std::string& node) { return HoldPatch(node, hold); });
  if (!done.ok() && !absl::IsAlreadyExists(done)) return done;
  Inform(hold, true);
  return absl::OkStatus();
}

absl::Status KubernetesBackend::Release(const std::string& node, const std::string& action) {
  const absl::Status done =
      Change(node, [&](const std::string& json) { return ReleasePatch(json, action); });
  if (done.ok()) Inform({node, action, "released", "", "fathom let the node go"}, false);
  return done;
}

absl::Status KubernetesBackend::Forget(const std::string& node, const std::string& action) {
  const absl::Status done =
      Change(node, [&](const std::string& json) { return ForgetPatch(json, action); });
  if (absl::IsFailedPrecondition(done) || absl::IsNotFound(done)) return absl::OkStatus();
  if (done.ok()) Inform({node, action, "released", "", "a person took the node over"}, false);
  return done;
}

void KubernetesBackend::Inform(const Hold& hold, bool held) {
  const WallNs now = clock_.Wall();
  const absl::Status condition =
      client_
          .Send("PATCH", absl::StrCat("/api/v1/nodes/", hold.node, "/status"),
                kubernetes::ApiClient::kStrategic, ConditionPatch(hold, held, now))
          .status();
  const absl::Status event = client_
                                 .Send("POST", "/api/v1/namespaces/default/events",
                                       "application/json", EventJson(hold, held, now))
                                 .status();
  ailing_.clear();
  if (!condition.ok())
    ailing_ = absl::StrCat("condition of ", hold.node, ": ", condition.message());
  if (!event.ok()) {
    absl::StrAppend(&ailing_, ailing_.empty() ? "" : "; ", "event for ", hold.node, ": ",
                    event.message());
  }
  if (!ailing_.empty()) spdlog::warn("{}", ailing_);
}

std::string KubernetesBackend::HoldCommand(const Hold& hold) const {
  return "kubectl cordon " + hold.node;
}

}  // namespace fathom::cordon
