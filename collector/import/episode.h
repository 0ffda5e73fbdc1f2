// Since when a recorded job is slow, looking back over the whole recording.
//
// Used by `fathom analyze` and by tests, before Watch().
//
// Model: a live watch must decide iteration by iteration and learns the job's noise first; a
// recording is known whole. Of all cuts of its iteration times in two, the one least likely by
// chance is taken, by the rank-sum test (one-sided, exact up to kExactIterations): no shape of the
// noise is assumed, and one wild iteration moves nothing. The first iteration of a window of the
// profiler is left out where it took longest: it holds the start of the profiler. The cut counts if
// the chance, times the number of cuts tried, stays below recorded_chance, and if the later median
// is above delta × the earlier one. The episode's noise is set so that what lies above the middle
// between the medians is irregular. A slow episode accuses nobody: the culprit must still be found,
// and consistent.
//
// Units: seconds inside. Thread-safety: pure functions. Errors: none; no episode has onset −1.
// Cost: O(n²) for n iterations, exact part O(kExactIterations⁴) at most.
// Source: Mann & Whitney 1947; Bonferroni over the cuts.
#ifndef FATHOM_COLLECTOR_IMPORT_EPISODE_H_
#define FATHOM_COLLECTOR_IMPORT_EPISODE_H_

#include <cstddef>
#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector {

inline constexpr std::size_t kExactIterations = 40;

// Recordings of more than trailing_window iterations teach Watch() as a live job does.
diagnosis::Episode FindEpisode(const diagnosis::JobView& view,
                               const diagnosis::DiagnosisConfig& config);

// Probability that values of one law, the first `cut` and the rest, have the rest as high or higher
// by rank sum. Requires: 0 < cut < values.size().
double ChanceOfRise(const std::vector<double>& values, std::size_t cut);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_EPISODE_H_
