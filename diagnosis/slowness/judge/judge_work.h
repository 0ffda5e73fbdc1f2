// Was more asked of those that take longer? Then no device is to blame.
//
// Used by slowness/judge/judge, before anybody is charged. Model: a rank has more work where its
// launches, ops, batches or bytes grew by mostly_share of what its working time grew by (own time
// without waiting for cores, which grows on a full machine whatever is asked), and where its own
// time, which must matter, would be shorter by mostly_share of its growth with the earlier work.
// Where all candidates have more work and other ranks do not, it is imbalance, of a stage where
// they are one; where all known ranks have, and they are the whole job or on too many nodes to fail
// at once, the work of the job has grown. Where some candidates have, half of the known ranks at
// most, it is theirs alone, and the other candidates are judged by themselves: who waits for a core
// beside a rank with more work does not make its device a slow one. A rank whose work is not
// counted is none of either.
//
// Thread-safety: pure. Errors: null where work explains no candidate.
// Cost: O(rows + ranks × iterations asked for).
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_WORK_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_WORK_H_

#include <optional>

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/evidence/rule.h"
#include "diagnosis/slowness/judge/common_cause.h"

namespace fathom::diagnosis {

// Names the ranks that it explains; without ranks it is about all.
std::optional<Verdict> JudgeWork(const Case& c, const Ledger& ledger, const Accounts& candidates);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_WORK_H_
