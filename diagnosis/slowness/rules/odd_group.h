// Rule odd_group: was the communication of one group slower than that of groups like it in all of a
// recording? docs/rules/odd_group.md.
//
// Model: a family (graph/group_families) is of groups that bear one description, lie the same way
// over ranks and nodes, and ran the same ops in the same iterations. What is compared is transfers,
// from the arrival of an op's last member to its end, so that nobody's lateness counts. Odd are
// those that take odd_group_ratio times as long as the slowest below them, sorted and seen from the
// lower median upwards, and as the lower median in nearly all iterations, and that cost something:
// only time in which all members were blocked counts, for work hides the rest. One is named, or
// what several have in common (ledger/odd_place). Where fewer than odd_group_siblings are well,
// or no more than are slow, it is not sure which are odd: those only help to find a rank or a node.
// A recording that shows no other time cannot tell a fault from wiring, so this is a lead and never
// more. Groups whose members' nodes are not known are not named, for one
// may cross nodes: it abstains where one would be odd.
//
// Speaks only on jobs that are not slow against their own past, and only where
// odd_group_iterations is set. Thread-safety: pure. Cost: O(ops × log ops + groups × iterations ×
// log groups + ranks × window). Source: Holmes' "all copies abnormal" (NSDI'25) with peers in place
// of the past.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_ODD_GROUP_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_ODD_GROUP_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule OddGroupRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_ODD_GROUP_H_
