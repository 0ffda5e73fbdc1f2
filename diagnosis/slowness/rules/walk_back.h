// Rule walk_back: from the end of an irregular iteration backwards to the one who is late by its
// own doing. docs/rules/walk_back.md.
//
//   rank 0  ==local==|--------- waits -----------|end
//   rank 1  ==local==|--------- waits -----------|
//   rank 2  ==local==:::::: own excess ::::::====|end      charged
//                    ^ its usual arrival
//
// Model: start at the last arriver of the op that ends the iteration. Going back over its gaps,
// charge each one's time beyond the usual; in a wait jump to whoever came last to the op waited
// for, on its own clock; if the waiter itself came last, the transfer is charged to the group.
//
// Thread-safety: pure. Cost: O(ops) an iteration.
// Source: Holmes (NSDI'25), backtracking; the blame by excess over the own past is ours.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_WALK_BACK_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_WALK_BACK_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule WalkBackRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_WALK_BACK_H_
