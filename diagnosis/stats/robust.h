// Location and spread that a few wild values do not move: median, scaled MAD, quantiles. Beside
// them the plain mean, of values that have none.
//
// Used all over diagnosis, such as by engine (iteration times) and graph (baselines of segments).
//
// Units: those of the values. Empty input gives 0.
// Thread-safety: pure functions. Cost: O(n), one copy of the values.
// Source: Rousseeuw & Croux 1993 for the factor 1.4826 (MAD to standard deviation of a normal).
#ifndef FATHOM_DIAGNOSIS_STATS_ROBUST_H_
#define FATHOM_DIAGNOSIS_STATS_ROBUST_H_

#include <cstddef>
#include <vector>

namespace fathom::diagnosis {

// As many values as tell what is usual, at least: a median of three is the first that one wild
// value does not move, and of two that differ neither is odd.
inline constexpr std::size_t kFewestForMedian = 3;

double Mean(const std::vector<double>& values);

// The middle value; of an even number, the mean of the two in the middle.
double Median(std::vector<double> values);

// 1.4826 × the median distance from `center`.
double MadSigma(const std::vector<double>& values, double center);

// Linear interpolation between order statistics. Requires: 0 ≤ q ≤ 1.
double Quantile(std::vector<double> values, double q);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_STATS_ROBUST_H_
