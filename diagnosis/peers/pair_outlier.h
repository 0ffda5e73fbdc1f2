// Which of two takes longer, again and again, at what can be too long and never too short.
//
// Used by peers/rank_outliers, for what the hosts of a job of two ranks spend on no work: garbage,
// batches, neither computing nor waiting.
//
// Model: of two that do the same work it can be told that they differ, and not who is wrong; unless
// the time that is compared is no work, for then less of it is better. The excess of one is the
// difference in an iteration, that of the other its negative.
//
//   lasting    the median excess lies `lasting_sigmas` spreads of the differences above nothing, or
//              `recurring_contrast` times above the largest of the other; it shows in `shows_share`
//              of the iterations
//   recurring  in fewer iterations it is `recurring_contrast` times the largest of the other
//
// Were both alike, all of k large differences would be of one of them with a chance of 2^(1-k),
// which must be at most `stretch_chance` where the spread does not decide.
//
// Units: seconds. Thread-safety: pure function. Errors: none; a value that is not known is NaN.
// Cost: O(iterations log iterations). Source: sign test (Arbuthnot 1710); the limits are those of
// peers/outliers.
#ifndef FATHOM_DIAGNOSIS_PEERS_PAIR_OUTLIER_H_
#define FATHOM_DIAGNOSIS_PEERS_PAIR_OUTLIER_H_

#include "diagnosis/peers/outliers.h"

namespace fathom::diagnosis {

// At most one is found. Requires: `table` has two entities.
Outliers OutlierOfPair(const OutlierTable& table, const OutlierLimits& limits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_PEERS_PAIR_OUTLIER_H_
