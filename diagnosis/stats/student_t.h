// Upper tail of Student's t distribution with whole degrees of freedom, and what it says of a
// correlation.
//
// Used by diagnosis/history (is a new run like the few before it?), slowness/rules/hot_experts and
// schedule/unequal_work (may so few pairs correlate so by chance?).
//
// Source: the finite series of Abramowitz & Stegun 26.7.3 and 26.7.4.
// Thread-safety: pure functions. Errors: fewer than one degree counts as one. Accuracy: 1e-12
// absolute. Cost: O(degrees).
#ifndef FATHOM_DIAGNOSIS_STATS_STUDENT_T_H_
#define FATHOM_DIAGNOSIS_STATS_STUDENT_T_H_

#include <cstddef>

namespace fathom::diagnosis {

// The probability of a value above t.
double StudentTail(double t, int degrees);

// The t that has this probability above it. Requires: 0 < chance < 0.5.
double StudentQuantile(double chance, int degrees);

// The probability that so many pairs of independent normal values correlate by `correlation` or
// more: t = r √((n − 2) / (1 − r²)) with n − 2 degrees. 1 for fewer than three pairs.
double ChanceOfCorrelation(double correlation, std::size_t pairs);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_STATS_STUDENT_T_H_
