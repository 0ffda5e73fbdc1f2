// What it takes to hold a node back in Kubernetes and to let it go again, as JSON patches.
//
//   annotation  fathom.dev/held-by: a0123456789ab      the tag
//   taint       fathom.dev/suspect=compute_slow:NoSchedule
//   spec        unschedulable
//
// Used by fathom-cordon and by `fathom recover`. The list of taints is never replaced, only our own
// place in it, because a merge patch of it would wipe other people's taints. A release tests our
// annotation and our taint's place in the list. A node that anybody else has cordoned is left
// alone.
//
// Thread-safety: pure functions. Errors: FailedPrecondition (not free, not ours), AlreadyExists (it
// carries our tag: the answer to an earlier try was lost). Cost: O(characters).
#ifndef FATHOM_COLLECTOR_KUBERNETES_NODE_HOLD_H_
#define FATHOM_COLLECTOR_KUBERNETES_NODE_HOLD_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "collector/kubernetes/json_object.h"

namespace fathom::kubernetes {

struct NodeHold {
  std::string node, tag, cause;
};

bool IsWithheld(const Json& node);
// The tag of a node that is withheld; empty: not ours.
std::string HolderOf(const Json& node);
// Why it is withheld or shunned, for people: "unschedulable site/rack-work:NoExecute".
std::string NoteOf(const Json& node);

// From the node as it was read.
absl::StatusOr<std::string> HoldPatch(std::string_view node_json, const NodeHold& hold);
absl::StatusOr<std::string> ReleasePatch(std::string_view node_json, const std::string& tag);
// Only what is left of ours on a node that a person has uncordoned.
absl::StatusOr<std::string> ForgetPatch(std::string_view node_json, const std::string& tag);

}  // namespace fathom::kubernetes

#endif  // FATHOM_COLLECTOR_KUBERNETES_NODE_HOLD_H_
