// When most ranks take longer alike: is it the work of the whole job, or can nobody tell?
//
// Used by slowness/judge/judge. Model: devices fail one by one. Where nearly all ranks that were
// looked at (consistent_share) on more nodes than fail together (most_culprit_nodes) need more time
// of their own at once, each within peer_contrast × of the median, and none of it is waiting for
// cores, the work or the software of all has changed, or what all are fed by. On fewer nodes
// something else on the machine explains it as well, and nobody is named. Supported at most;
// accuses no device.
//
// Units: seconds. Thread-safety: pure. Cost: O(ranks). docs/rules/regression.md.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_ALIKE_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_ALIKE_H_

#include <cstddef>
#include <optional>

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/evidence/rule.h"
#include "diagnosis/slowness/judge/common_cause.h"

namespace fathom::diagnosis {

// `slow`: the ranks that show, on so many nodes. None: it cannot be told.
std::optional<Verdict> JudgeAlike(const Case& c, const Ledger& ledger, const Accounts& slow,
                                  std::size_t nodes);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_ALIKE_H_
