// Rule arrival: for whom did the others wait? docs/rules/arrival.md.
//
// Model: in a collective in which all leave together, transfer = the shortest elapsed time, wait =
// elapsed − transfer, and the last to arrive is the one with the shortest elapsed time: no clock is
// compared across ranks. A receive waits for its sender, others of a broadcast for its root.
// Each wait in which a caller was really blocked is laid to the rank that came last. Late is not
// guilty: walk_back says why it was late.
//
// Thread-safety: pure. Cost: O(ops × members).
// Source: Holmes (NSDI'25), "one copy normal while the rest are abnormal".
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_ARRIVAL_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_ARRIVAL_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule ArrivalRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_ARRIVAL_H_
