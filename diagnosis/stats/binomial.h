// Upper tail of the binomial distribution.
//
// Used by peers/outliers and watch/spikes: may so many of all large values be one entity's by
// chance?
//
// Source: the sum itself, each term by logarithms of the gamma function.
// Thread-safety: pure function. Errors: none. Cost: O(n − least).
#ifndef FATHOM_DIAGNOSIS_STATS_BINOMIAL_H_
#define FATHOM_DIAGNOSIS_STATS_BINOMIAL_H_

#include <cstddef>

namespace fathom::diagnosis {

// The chance of `least` or more successes of `n`, each with chance p. Requires: 0 < p < 1.
double BinomialTail(std::size_t n, std::size_t least, double p);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_STATS_BINOMIAL_H_
