// Rule communication_slow: is it the communication itself? docs/rules/communication_slow.md.
//
// Model: where all copies of a collective are longer than usual and nobody came late, the transfer
// took longer: its shortest elapsed time against the usual one of the same group, kind and size.
// The part of it on the chain that ends the iteration is charged to the group. Where rows of some
// ranks only are here, the summaries of all tell instead (graph/group_transfers). Which link it is,
// slowness/judge/judge asks of times per peer (link_slow) and of several slow groups
// (shared_device).
//
// Thread-safety: pure. Cost: O(ops) an iteration, or O(ranks × groups) by summaries.
// Source: Holmes (NSDI'25), "all copies abnormal".
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_COMMUNICATION_SLOW_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_COMMUNICATION_SLOW_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule CommunicationSlowRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_COMMUNICATION_SLOW_H_
