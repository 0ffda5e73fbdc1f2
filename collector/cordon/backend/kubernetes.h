// Holds nodes back in Kubernetes: cordons, taints, sets a condition and writes an event.
//
//   annotation, taint, spec                            collector/kubernetes/node_hold.h
//   condition   FathomSuspect (status subresource)     why, for people and other controllers
//   event       FathomCordoned, FathomReleased
//
// The change itself is one patch of collector/kubernetes/api_client.h. When a person has uncordoned
// a node of ours, Forget takes away our annotation and taint, which would still keep work from it.
// Condition and event are for information: if they fail, the hold stands. Ailing() says why the
// last one failed.
//
// Looks list all nodes. With `watch` only the first does: the next ask for the changes since its
// resourceVersion, during one second (a look takes that long then), and it is listed anew when that
// version is forgotten (410), after each change of our own, so that its effect is surely seen,
// after any error, and every kRelist. Where the right to watch is missing every look lists, and the
// watch is tried again after kRelist.
//
// Rights needed: nodes get, list, patch; nodes/status patch; events create; to watch, nodes watch.
// Thread-safety, errors: see backend.h. Run against a real kube-apiserver 1.20.2 and
// a stand-in for its faults; not yet against a cluster.
#ifndef FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_H_
#define FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_H_

#include <string>
#include <string_view>

#include "collector/cordon/backend/backend.h"
#include "collector/kubernetes/api_client.h"
#include "collector/net/http_transport.h"
#include "collector/process/clock.h"

namespace fathom::cordon {

struct KubernetesOptions {
  std::string server;      // https://HOST:PORT
  std::string token_file;  // empty: a client certificate in the transport
  std::string rack_label;
  bool watch = false;
};

class KubernetesBackend final : public Backend {
 public:
  KubernetesBackend(KubernetesOptions options, collector::HttpTransport& transport,
                    const collector::Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        client_({options_.server, options_.token_file, "fathom-cordon/" FATHOM_VERSION}, transport,
                [&clock] { return clock.Mono(); }) {}

  static constexpr Nanos kRelist{600'000'000'000};

  absl::Status Nodes(std::map<std::string, NodeFact>& nodes) override;
  absl::Status HoldBack(const Hold& hold) override;
  absl::Status Release(const std::string& node, const std::string& action) override;
  absl::Status Forget(const std::string& node, const std::string& action) override;
  std::string HoldCommand(const Hold& hold) const override;
  std::string Ailing() const override { return ailing_; }

 private:
  absl::Status List();
  absl::Status Watch();
  bool Watches() const;
  absl::Status Change(const std::string& node, const kubernetes::ApiClient::PatchOf& patch_of);
  void Inform(const Hold& hold, bool held);

  const KubernetesOptions options_;
  const collector::Clock& clock_;
  kubernetes::ApiClient client_;
  MonoNs unwatched_;  // since when the right to watch was missing; unknown: it is not
  std::string ailing_;
  std::map<std::string, NodeFact> known_;
  std::string version_;  // of known_; empty: to be listed anew
  MonoNs listed_;
};

// Of an answer of GET /api/v1/nodes, with the resourceVersion that it is from. Errors:
// InvalidArgument.
absl::Status ReadKubernetesNodes(std::string_view json, const std::string& rack_label,
                                 std::map<std::string, NodeFact>& nodes, std::string& version);
// The lines of a watch that has ended, folded into `nodes` and `version`. Errors: OutOfRange (the
// version is forgotten), Unavailable (the server's own), InvalidArgument (no events).
absl::Status ReadKubernetesEvents(std::string_view lines, const std::string& rack_label,
                                  std::map<std::string, NodeFact>& nodes, std::string& version);
// The JSON patches, from the node as it was read. Errors: FailedPrecondition (not free, not ours),
// AlreadyExists (it carries our tag: the answer to an earlier try was lost).
absl::StatusOr<std::string> HoldPatch(std::string_view node_json, const Hold& hold);
absl::StatusOr<std::string> ReleasePatch(std::string_view node_json, const std::string& action);
// Only what is left of ours on a node that a person has uncordoned.
absl::StatusOr<std::string> ForgetPatch(std::string_view node_json, const std::string& action);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_H_
