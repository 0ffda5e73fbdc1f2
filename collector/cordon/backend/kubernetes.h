// Holds nodes back in Kubernetes: cordons, taints, sets a condition and writes an event.
//
//   annotation  fathom.dev/held-by: a0123456789ab      the tag
//   taint       fathom.dev/suspect=compute_slow:NoSchedule
//   condition   FathomSuspect (status subresource)     why, for people and other controllers
//   event       FathomCordoned, FathomReleased
//
// The change itself is one JSON patch with `test` on metadata.resourceVersion and on what it
// replaces, so that it applies to the node that was read and to no other state of it: 409 and 422
// mean that somebody was faster; then the node is read and judged anew, kTries times at most. The
// list of taints is never replaced, only our own place in it, because a merge patch of it would
// wipe other people's taints. Undo tests our annotation and our taint's place in the list. A node
// that anybody else has cordoned is left alone. When a person has uncordoned a node of ours, Forget
// takes away our annotation and taint, which would still keep work from it. Condition and event are
// for information: if they fail, the hold stands. A server that says Retry-After (429, 503) is not
// asked again before, for kMaxWait at most. Ailing() says why the last one failed.
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

#include <functional>
#include <string>
#include <string_view>

#include "collector/cordon/backend/backend.h"
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
      : options_(std::move(options)), transport_(transport), clock_(clock) {}

  static constexpr int kTries = 3;
  static constexpr Nanos kMaxWait{60'000'000'000};
  static constexpr Nanos kRelist{600'000'000'000};

  absl::Status Nodes(std::map<std::string, NodeFact>& nodes) override;
  absl::Status HoldBack(const Hold& hold) override;
  absl::Status Release(const std::string& node, const std::string& action) override;
  absl::Status Forget(const std::string& node, const std::string& action) override;
  std::string HoldCommand(const Hold& hold) const override;
  std::string Ailing() const override { return ailing_; }

 private:
  // From the node as it is now to the patch that changes it; an error: it must not be changed.
  using PatchOf = std::function<absl::StatusOr<std::string>(const std::string& node_json)>;

  absl::StatusOr<std::string> Send(const std::string& method, const std::string& path,
                                   const std::string& type, const std::string& body);
  absl::Status List();
  absl::Status Watch();
  bool Watches() const;
  absl::Status Change(const std::string& node, const PatchOf& patch_of);
  void Inform(const Hold& hold, bool held);

  const KubernetesOptions options_;
  collector::HttpTransport& transport_;
  const collector::Clock& clock_;
  MonoNs not_before_;  // unknown: no wait was asked for
  MonoNs unwatched_;   // since when the right to watch was missing; unknown: it is not
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
