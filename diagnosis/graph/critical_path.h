// The chain of waits and work that decides when an iteration ends.
//
// Used by rules walk_back and communication_slow. Pure. docs/rules/walk_back.md draws it.
// Units: seconds. Cost: O(ops of the iteration).
#ifndef FATHOM_DIAGNOSIS_GRAPH_CRITICAL_PATH_H_
#define FATHOM_DIAGNOSIS_GRAPH_CRITICAL_PATH_H_

#include <vector>

#include "diagnosis/graph/execution_graph.h"

namespace fathom::diagnosis {

// A step of the chain: local time of the gap before an op, or (transfer) the op itself, for whose
// transfer the chain waits. `seconds` is how long the chain stays in it.
struct PathStep {
  OpRef ref;
  bool transfer = false;
  double seconds = 0;
};

// From the end of the iteration backwards; empty where its last op cannot be joined across ranks.
// `wait_floor` in seconds: shorter waits do not move the chain.
std::vector<PathStep> CriticalPath(const ExecutionGraph& graph, Iteration iteration,
                                   double wait_floor);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_CRITICAL_PATH_H_
