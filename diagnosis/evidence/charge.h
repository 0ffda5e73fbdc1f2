// What rules say about one iteration: who took more time than usual, and who was waited for.
//
// Made by diagnosis/slowness/rules, gathered by evidence/ledger.
// Units: seconds. Thread-safety: plain values.
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_CHARGE_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_CHARGE_H_

#include "diagnosis/graph/execution_graph.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

// Rank `rank` took `own` more than usual by itself in the iteration; `path` of it lay on the chain
// of waits that ends the iteration. What the iteration took longer beyond `own`, it was held up.
struct RankCharge {
  Iteration iteration;
  RankId rank;
  Excess own;
  Excess path;
  bool irregular = true;  // false: in a baseline iteration, for comparison
  double unknown = 0;     // own time that has no baseline: nothing can be said of it
};

// The transfer of this group took `seconds` more than usual on the chain of the iteration.
struct GroupCharge {
  Iteration iteration;
  GroupId group;
  double seconds = 0;
};

// Others were blocked for `seconds` until `rank` came, on ops of `group`.
struct CausedWait {
  Iteration iteration;
  RankId rank;
  GroupId group;
  double seconds = 0;
  bool irregular = true;  // false: in a baseline iteration, for comparison
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_CHARGE_H_
