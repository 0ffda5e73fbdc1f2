// Rule hot_experts: experts that get more tokens than others. docs/rules/hot_experts.md.
//
// Model: an all-to-all hands each rank its tokens; what the rank computes from there to its next op
// is the work on them. In an uneven one some member receives heavy_stage_ratio × the mean. Over the
// uneven ones of a group, each number as a share of the mean of all members, tokens and work must
// correlate by length_correlation, the member that works longest must be a loaded one, and none of
// these may work longer than in proportion to its tokens: what goes beyond is not explained, and
// the rule says nothing of the group. Names the group and its loaded ranks, never a device: it is
// supported at most, and the owners of the model have it.
//
// Thread-safety: pure. Cost: O(ops × log ops) of all rows, and of each uneven exchange
// O(members × loaded ones).
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_HOT_EXPERTS_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_HOT_EXPERTS_H_

#include <vector>

#include "diagnosis/evidence/rule.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

Rule HotExpertsRule();

// Drops verdicts that a rank computes slowly, where that of this rule explains it by tokens: what
// has become slower while it got as many tokens as before, by more than onset_slack iterations
// later, they do not.
void SpareLoadedRanks(std::vector<Verdict>& verdicts, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_HOT_EXPERTS_H_
