// Holds nodes back in Kubernetes: cordons, taints, sets a condition and writes an event.
//
//   annotation  fathom.dev/held-by: a0123456789ab      the tag
//   taint       fathom.dev/suspect=compute_slow:NoSchedule
//   condition   FathomSuspect (status subresource)     why, for people and other controllers
//   event       FathomCordoned, FathomReleased
//
// The change itself is one JSON patch with `test` on metadata.resourceVersion and on what it
// replaces, so that it applies to the node that was read and to no other state of it: 409 and 422
// mean that somebody was faster. The list of taints is never replaced, only appended to, because a
// merge patch of it would wipe other people's taints. Undo tests our annotation and our taint's
// place in the list. A node that anybody else has cordoned is left alone.
// Condition and event are for information: if they fail, the hold stands.
//
// Rights needed: nodes get, list, patch; nodes/status patch; events create.
// Thread-safety, errors: see backend.h. Not yet run against a real server.
#ifndef FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_H_
#define FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_H_

#include <string>
#include <string_view>

#include "collector/clock.h"
#include "collector/cordon/backend/backend.h"
#include "collector/net/http_transport.h"

namespace fathom::cordon {

struct KubernetesOptions {
  std::string server;      // https://HOST:PORT
  std::string token_file;  // empty: a client certificate in the transport
  std::string rack_label;
};

class KubernetesBackend final : public Backend {
 public:
  KubernetesBackend(KubernetesOptions options, collector::HttpTransport& transport,
                    const collector::Clock& clock)
      : options_(std::move(options)), transport_(transport), clock_(clock) {}

  std::string name() const override { return "kubernetes"; }
  absl::Status Nodes(std::map<std::string, NodeFact>& nodes) override;
  absl::Status HoldBack(const Hold& hold) override;
  absl::Status Release(const std::string& node, const std::string& action) override;
  std::string HoldCommand(const Hold& hold) const override;

 private:
  absl::StatusOr<std::string> Send(const std::string& method, const std::string& path,
                                   const std::string& type, const std::string& body) const;
  void Inform(const Hold& hold, bool held) const;

  const KubernetesOptions options_;
  collector::HttpTransport& transport_;
  const collector::Clock& clock_;
};

// Of an answer of GET /api/v1/nodes. Errors: InvalidArgument.
absl::Status ReadKubernetesNodes(std::string_view json, const std::string& rack_label,
                                 std::map<std::string, NodeFact>& nodes);
// The JSON patches, from the node as it was read. Errors: FailedPrecondition (not free, not ours),
// InvalidArgument (no node).
absl::StatusOr<std::string> HoldPatch(std::string_view node_json, const Hold& hold);
absl::StatusOr<std::string> ReleasePatch(std::string_view node_json, const std::string& action);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_H_
