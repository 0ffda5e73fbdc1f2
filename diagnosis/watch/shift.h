// A step in the iteration time that makes no single iteration irregular, and that many iterations
// tell all the same. Part of Watch().
//
//   0.371 0.372 0.371 0.372 | 0.386 0.387 0.385 0.386      4 %: below delta, far above the noise
//   0.02 0.06 0.02 0.02 0.04 | 0.05 0.05 0.09 0.05 0.05    as large as the spikes, but they last
//
// Model: the window is split where the means before and after differ most, in units of their
// standard error. It is a step if the sides lie apart point by point, differ by so many standard
// errors, and a straight line would not explain as much. In quiet jobs (quiet_noise) a hundredth is
// enough; in noisier ones noisy_shift_delta, for what others do on a machine comes in steps, too.
// Where there is none, the points after the largest drop are asked alone, as long as one drops by
// shift_sigmas: a wild start teaches neither level nor noise.
//
// During an episode handed back by the caller the side before is its baseline, and less is needed
// for it to go on than to begin: shift_goes_on (half) of the standard errors and of what
// noisy_shift_delta asks for, and twice the noise, of all points since the onset, while the newest
// ones lie nearer to their median than to the baseline. Else a step near the least that can be told
// would be told and taken back.
//
// Units: seconds. Thread-safety: pure. Cost: O(points log points).
// Source: least-squares estimate of one change in mean (Hinkley 1970), on clipped values.
#ifndef FATHOM_DIAGNOSIS_WATCH_SHIFT_H_
#define FATHOM_DIAGNOSIS_WATCH_SHIFT_H_

#include <cstddef>
#include <optional>

#include "diagnosis/model/config.h"
#include "diagnosis/stats/step.h"
#include "diagnosis/watch/series.h"

namespace fathom::diagnosis {

struct Shift {
  std::size_t first = 0;  // point from which on iterations take longer
  double before = 0;      // median until then
  double limit = 0;       // halfway: above it a point since then counts as irregular
};

// Of both kinds of small steps. No noise is taken for smaller than that by which one value that
// lies shift_delta above the others measures shift_sigmas: a step is told by many.
StepLimits StepLimitsOf(const DiagnosisConfig& config);

[[nodiscard]] std::optional<Shift> FindShift(const JobSeries& series,
                                             const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_SHIFT_H_
