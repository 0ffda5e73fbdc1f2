// Rule odd_group: was the communication of one group slower than that of groups like it in all of a
// recording? docs/rules/odd_group.md.
//
// Model: groups are alike that bear one description, lie the same way over ranks and nodes, and ran
// the same ops in an iteration. What is compared is the transfer of an op, from the arrival of its
// last member to its end, so that nobody's lateness counts. Those that take odd_group_ratio times
// as long as all others of at least odd_group_siblings, in nearly all iterations, are odd: one of
// them, or several that meet in one rank or node. A family of two tells that it differs and not
// which of them is odd; it only helps to find the rank in which odd groups meet.
// A recording that shows no other time cannot tell a fault from wiring, so this is a lead and never
// more. Groups whose members' nodes are not known are not compared: one may cross nodes.
//
// Speaks only on jobs that are not slow against their own past, and only where
// odd_group_iterations is set. Thread-safety: pure. Cost: O(ops + groups × iterations × log
// groups). Source: Holmes' "all copies abnormal" (NSDI'25) with peers in place of the past.
#ifndef FATHOM_DIAGNOSIS_RULES_ODD_GROUP_H_
#define FATHOM_DIAGNOSIS_RULES_ODD_GROUP_H_

#include "diagnosis/rules/rule.h"

namespace fathom::diagnosis {

Rule OddGroupRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_RULES_ODD_GROUP_H_
