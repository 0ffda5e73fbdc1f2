#include "collector/cordon/backend/kubernetes.h"

#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "collector/cordon/backend/kubernetes_json.h"
#include "collector/cordon/backend/webhook.h"
#include "collector/net/redacted.h"

namespace fathom::cordon {
namespace {

constexpr char kPatch[] = "application/json-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";

}  // namespace

absl::StatusOr<std::string> KubernetesBackend::Send(const std::string& method,
                                                    const std::string& path,
                                                    const std::string& type,
                                                    const std::string& body) {
  if (not_before_.known() && clock_.Mono() < not_before_) {
    return absl::ResourceExhaustedError("the API server asked to be left alone for a while");
  }
  collector::HttpCall call{method, options_.server + path, {}, body, 10};
  if (!type.empty()) call.headers.push_back("Content-Type: " + type);
  call.headers.push_back("Accept: application/json");
  call.headers.push_back("User-Agent: fathom-cordon/" FATHOM_VERSION);
  if (auto status = AddBearer(options_.token_file, call.headers); !status.ok()) return status;
  const auto answer = transport_.Send(call);
  if (!answer.ok()) return answer.status();
  if (answer->retry_after_s > 0 && (answer->status == 429 || answer->status == 503)) {
    not_before_ =
        clock_.Mono() + Nanos::FromSeconds(std::min(answer->retry_after_s, kMaxWait.Seconds()));
  }
  const std::string said = collector::Redacted(answer->body, options_.server, call.headers);
  if (auto status = StatusOfHttp(answer->status, said); !status.ok()) return status;
  return answer->body;
}

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
  const auto body = Send("GET", "/api/v1/nodes", "", "");
  if (!body.ok()) return body.status();
  known_.clear();
  listed_ = clock_.Mono();
  return ReadKubernetesNodes(*body, options_.rack_label, known_, version_);
}

absl::Status KubernetesBackend::Watch() {
  const auto body = Send("GET",
                         absl::StrCat("/api/v1/nodes?watch=1&allowWatchBookmarks=true"
                                      "&timeoutSeconds=1&resourceVersion=",
                                      collector::PercentEncoded(version_)),
                         "", "");
  if (absl::IsPermissionDenied(body.status())) {
    spdlog::warn("nodes are listed at each look: {}", std::string(body.status().message()));
    unwatched_ = clock_.Mono();
  }
  if (!body.ok()) return body.status();
  return ReadKubernetesEvents(*body, options_.rack_label, known_, version_);
}

absl::Status KubernetesBackend::Change(const std::string& node, const PatchOf& patch_of) {
  if (!PlainNodeName(node)) return absl::InvalidArgumentError("no name of a node");
  const std::string path = "/api/v1/nodes/" + node;
  version_.clear();
  for (int left = kTries;; --left) {
    const auto before = Send("GET", path, "", "");
    if (!before.ok()) {  // whatever it was, nothing has been changed
      return Certain(before.status())
                 ? before.status()
                 : absl::FailedPreconditionError(std::string(before.status().message()));
    }
    const auto patch = patch_of(*before);
    if (!patch.ok()) return patch.status();
    const auto done = Send("PATCH", path, kPatch, *patch);
    if (done.ok()) return absl::OkStatus();
    const bool raced = absl::IsAborted(done.status()) || absl::IsFailedPrecondition(done.status());
    if (!raced || left == 1) return done.status();
  }
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
  const absl::Status condition = Send("PATCH", absl::StrCat("/api/v1/nodes/", hold.node, "/status"),
                                      kStrategic, ConditionPatch(hold, held, now))
                                     .status();
  const absl::Status event = Send("POST", "/api/v1/namespaces/default/events", "application/json",
                                  EventJson(hold, held, now))
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
