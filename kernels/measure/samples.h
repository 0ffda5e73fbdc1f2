// Medians and spreads of slices.
//
// Used by every probe. The same definitions as diagnosis/stats/robust.h, which this room may not
// include. Empty input gives 0. Thread-safety: pure functions. Cost: O(n), one copy.
#ifndef FATHOM_KERNELS_MEASURE_SAMPLES_H_
#define FATHOM_KERNELS_MEASURE_SAMPLES_H_

#include <string>
#include <vector>

#include "kernels/measure/figure.h"

namespace fathom::kernels {

double MedianOf(std::vector<double> values);
// 1.4826 × the median distance from the median.
double SpreadOf(const std::vector<double>& values);
// Linear interpolation between order statistics. Requires: 0 ≤ q ≤ 1.
double QuantileOf(std::vector<double> values, double q);

Figure MedianFigure(std::string name, std::string where, const std::vector<double>& values,
                    std::string unit);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_MEASURE_SAMPLES_H_
