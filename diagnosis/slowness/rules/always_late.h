// Rule always_late: one rank of equals is late from the first recorded iteration on.
// docs/rules/always_late.md.
//
// Model: own time of a rank in an iteration is what it was not blocked in communication and did not
// wait for a core. The rank that took most has always_late_ratio × the median of the others (more
// where few iterations are known) in nearly all pairs of iterations in a row, each of the others
// waits always_late_wait of all the time, and its lateness explains explained_share of that. Pairs
// and sums, because who is late behind the last communication of an iteration makes the others wait
// in the next. A recording that shows no other time cannot tell a fault from a division of work, so
// this is a lead and never more. What its own time went into beyond the others' is the cause that
// the lead names. Speaks only on jobs that are not slow against their own past and exchange no
// messages (a pipeline has a rule of its own), and only where always_late_iterations is set.
//
// Thread-safety: pure. Cost: O(ranks × window × log ranks), for at most one rank.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_ALWAYS_LATE_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_ALWAYS_LATE_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule AlwaysLateRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_ALWAYS_LATE_H_
