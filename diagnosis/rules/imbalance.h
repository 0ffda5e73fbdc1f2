// Rule imbalance: work that is unequal by design, from the start. docs/rules/imbalance.md.
//
// Model: one rank of a pipeline takes imbalance_ratio × the own time of its peers in nearly every
// iteration of the window, and had it in the first half of the window as in the second; the others
// wait for it. That is the model's cut, not a device. Speaks only on jobs that are not slow against
// their own past, with messages between ranks (a pipeline), and grades supported at most.
//
// Thread-safety: pure. Cost: O(ranks × window).
// Source: What-if (OSDI'25) on the last pipeline stage.
#ifndef FATHOM_DIAGNOSIS_RULES_IMBALANCE_H_
#define FATHOM_DIAGNOSIS_RULES_IMBALANCE_H_

#include "diagnosis/rules/rule.h"

namespace fathom::diagnosis {

Rule ImbalanceRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_RULES_IMBALANCE_H_
