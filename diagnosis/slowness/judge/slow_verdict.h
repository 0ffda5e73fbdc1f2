// What every verdict on a slow job begins with: cause and what follows from it, since when, at what
// cost.
//
// Used by slowness/judge/judge, judge_alike and judge_groups, which add culprit, sentence and
// evidence. Thread-safety: pure function.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SLOW_VERDICT_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SLOW_VERDICT_H_

#include "diagnosis/evidence/rule.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// Supported. `share`: of what the job loses, the part that this culprit answers for.
Verdict SlowVerdict(const Case& c, Cause cause, EntityType type, double share = 1);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SLOW_VERDICT_H_
