// From the charges of communicators to a verdict on the network.
//
// Used by slowness/judge/judge where no rank shows. Model: a communicator that shows in
// consistent_share of the irregular iterations is slow. One: times per socket narrow it down where
// there are any (slowness/rules/link_slow), else the messages of its members
// (slowness/judge/slow_messages). Several are one matter: of what they share
// (slowness/judge/shared_device), else narrowed by messages likewise. Supported at most. Silent
// where any rank has more own excess than half of explains_share.
//
// Thread-safety: pure. Cost: O(groups × iterations + ranks).
// Source: Holmes (NSDI'25): all copies abnormal: the communication itself.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_GROUPS_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_GROUPS_H_

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

// Adds at most one verdict to the findings.
void JudgeGroups(const Case& c, const Ledger& ledger, Findings& findings);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_GROUPS_H_
