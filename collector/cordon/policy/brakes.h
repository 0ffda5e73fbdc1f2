// Why an action that is otherwise wanted must not begin now: every cap and every sanity check.
//
// Called by Policy for each candidate, with the world as it is at this look. Pure.
//
// Held nodes are those of our own ledger that we hold or may hold, and every node that carries
// the tag of any fathom-cordon: the caps are about the cluster, not about one process.
// Thread-safety: pure functions. Errors: none. Cost: O(nodes + verdicts + actions).
#ifndef FATHOM_COLLECTOR_CORDON_POLICY_BRAKES_H_
#define FATHOM_COLLECTOR_CORDON_POLICY_BRAKES_H_

#include <set>
#include <string>

#include "collector/cordon/policy/facts.h"
#include "collector/cordon/policy/ledger.h"
#include "collector/cordon/policy/limits.h"

namespace fathom::cordon {

struct Scene {
  const Limits& limits;
  const Ledger& ledger;
  const View& view;
  WallNs now;
};

std::set<std::string> HeldNodes(const Ledger& ledger, const View& view);

// Whether the verdict is one that may ever lead to an action: established, open, about a node's
// own hardware, and naming a node. Empty: yes; else why not.
std::string WhyNotANodeVerdict(const VerdictFact& verdict, const Limits& limits);

// Why such a verdict must not lead to anything now: its job does not run, not all of its witnesses
// are known, no diagnosis has seen it of late, a probe refutes it, or require_probe wants one that
// confirms it. Empty: it can be trusted.
std::string WhyNotTrusted(const VerdictFact& verdict, const Limits& limits);

// The distinct nodes that such verdicts name.
std::set<std::string> SuspectNodes(const View& view, const Limits& limits);

// Empty: may begin. Else one sentence that says what holds it back.
std::string WhyNotNow(const VerdictFact& verdict, const Scene& scene);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_POLICY_BRAKES_H_
