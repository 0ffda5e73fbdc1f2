// Upper tail of Student's t distribution with whole degrees of freedom.
//
// Used by diagnosis/history (is a new run like the few before it?).
//
// Source: the finite series of Abramowitz & Stegun 26.7.3 and 26.7.4.
// Thread-safety: pure functions. Errors: fewer than one degree counts as one. Accuracy: 1e-12
// absolute. Cost: O(degrees).
#ifndef FATHOM_DIAGNOSIS_STATS_STUDENT_T_H_
#define FATHOM_DIAGNOSIS_STATS_STUDENT_T_H_

namespace fathom::diagnosis {

// The probability of a value above t.
double StudentTail(double t, int degrees);

// The t that has this probability above it. Requires: 0 < chance < 0.5.
double StudentQuantile(double chance, int degrees);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_STATS_STUDENT_T_H_
