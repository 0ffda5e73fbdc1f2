// What can hold a node back and let it go again: Slurm, Kubernetes, a webhook.
//
// Owned and called by the actuator, one call at a time. A back-end changes only what is free, tags
// what it changes with the action's id, and takes back only what still carries that tag; each such
// check is made against the server as it is at that moment, not against an earlier look.
//
// Thread-safety: single-threaded, owned by the actuator. Errors: a status for which Certain() is
// true says that nothing was changed; after any other it is not known. Cost: bounded by the
// back-end's time limit.
#ifndef FATHOM_COLLECTOR_CORDON_BACKEND_BACKEND_H_
#define FATHOM_COLLECTOR_CORDON_BACKEND_BACKEND_H_

#include <absl/status/status.h>

#include <map>
#include <string>

#include "collector/cordon/policy/facts.h"

namespace fathom::cordon {

struct Hold {
  std::string node, action, cause, episode;
  std::string sentence;  // for people who look at the node
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual absl::Status Nodes(std::map<std::string, NodeFact>& nodes) = 0;
  virtual absl::Status HoldBack(const Hold& hold) = 0;
  virtual absl::Status Release(const std::string& node, const std::string& action) = 0;
  // A person has taken the node over: removes what is left of ours and hinders them. By default
  // nothing is left.
  virtual absl::Status Forget(const std::string& /*node*/, const std::string& /*action*/) {
    return absl::OkStatus();
  }
  // What went wrong beside the last change, which stands all the same; empty: nothing.
  virtual std::string Ailing() const { return ""; }
  // What a person can type instead; for advice and for when fathom cannot act.
  virtual std::string HoldCommand(const Hold& hold) const = 0;
};

inline bool Certain(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:  // not free, or not ours
    case absl::StatusCode::kAborted:             // somebody was faster
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kResourceExhausted:  // told to come back later
      return true;
    default:
      return false;
  }
}

// A name that may go onto a command line or into a path: letters, digits, '.', '_', '-'; not the
// word that Slurm takes for every node.
inline bool PlainNodeName(const std::string& name) {
  if (name.empty() || name.size() > 253 || name == "ALL" || name == "all") return false;
  if (name.front() == '-' || name.front() == '.') return false;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (!plain) return false;
  }
  return true;
}

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_BACKEND_BACKEND_H_
