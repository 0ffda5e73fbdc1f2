// Histograms with fixed buckets in seconds, for the exporter.
//
// IterationHistogram is owned by JobState, LatencyHistogram by Diagnoser. Counts are per bucket
// (not cumulative), the last is overflow.
// Thread-safety: plain values. Cost: O(log buckets).
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_HISTOGRAM_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "proto/types/time_units.h"

namespace fathom::collector {

inline constexpr std::array kIterationBuckets{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                              0.1,   0.25,   0.5,   1.0,  2.5,   5.0,
                                              10.0,  25.0,   60.0,  120., 300.0, 600.0};
inline constexpr std::array kLatencyBuckets{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                            0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 60.0};

template <const auto& kBounds>
struct Histogram {
  std::array<std::uint64_t, kBounds.size() + 1> counts{};
  std::uint64_t count = 0;
  double sum_s = 0;

  void Observe(Nanos duration) {
    const double s = duration.Seconds();
    const auto at = std::lower_bound(kBounds.begin(), kBounds.end(), s);
    ++counts[static_cast<std::size_t>(at - kBounds.begin())];
    ++count;
    sum_s += s;
  }
};

using IterationHistogram = Histogram<kIterationBuckets>;
using LatencyHistogram = Histogram<kLatencyBuckets>;

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_HISTOGRAM_H_
