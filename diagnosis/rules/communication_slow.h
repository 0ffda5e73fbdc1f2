// Rule communication_slow: is it the communication itself? docs/rules/communication_slow.md.
//
// Model: where all copies of a collective are longer than usual and nobody came late, the transfer
// took longer: its shortest elapsed time against the usual one of the same group, kind and size.
// The part of it on the chain that ends the iteration is charged to the group. Without times per
// peer no link can be named.
//
// Thread-safety: pure. Cost: O(ops) an iteration.
// Source: Holmes (NSDI'25), "all copies abnormal".
#ifndef FATHOM_DIAGNOSIS_RULES_COMMUNICATION_SLOW_H_
#define FATHOM_DIAGNOSIS_RULES_COMMUNICATION_SLOW_H_

#include "diagnosis/rules/rule.h"

namespace fathom::diagnosis {

Rule CommunicationSlowRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_RULES_COMMUNICATION_SLOW_H_
