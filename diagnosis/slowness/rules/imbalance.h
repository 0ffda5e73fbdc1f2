// Rule imbalance: work that is unequal by design, from the start. docs/rules/imbalance.md.
//
// Model: one stage of all pipelines, which may be several ranks, takes peer_contrast × the own
// time of its peers in nearly every iteration of the window, and the others wait for it. That is
// the model's cut, not a device: which would be slow in one replica only. Where the stage
// is one rank, of one pipeline, both look the same, and it says so. Speaks only on jobs that are
// not slow against their own past, with messages between ranks (graph/pipelines), and grades
// supported at most: a lead where fewer iterations are recorded (kFewestForMedian at least).
//
// Thread-safety: pure. Cost: O(ranks² × window).
// Source: What-if (OSDI'25) on the last pipeline stage.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_IMBALANCE_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_IMBALANCE_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule ImbalanceRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_IMBALANCE_H_
