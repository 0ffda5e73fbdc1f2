// Is one node out of reach whole, while all others wait for it?
//
// Used by hang/live/hang where it can name nobody. Model: the agents of exactly one node cannot be
// reached; every rank elsewhere is stuck in an op, and each of them waits for a rank of that node,
// or of whom that cannot be told on that node, directly or through others that do. Ranks of which
// nothing was ever heard may be the ones that hang, so the ranks of the job must all be known. A
// node that is down, one that is cut off, and one whose agent alone is gone while a rank there
// hangs look the same from the others.
//
// Thread-safety: pure. Cost: O(instances × members × hops).
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_CUT_OFF_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_CUT_OFF_H_

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/graph/wait_for.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct CutOffNode {
  std::string node;
  std::vector<RankId> ranks;
};

[[nodiscard]] std::optional<CutOffNode> FindCutOffNode(const JobView& view, const WaitFor& graph);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_CUT_OFF_H_
