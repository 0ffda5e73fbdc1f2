// One lasting step in a series: where it lies, how high it is, and how sure that is.
//
// Used by watch/shift (iteration times of a job) and watch/rank_shift (own times of its ranks).
//
// Model: a series is split in two, each side has a level (median) and a spread (scaled MAD, with a
// floor: clocks and sums are not finer). The best split is that of the largest difference of means
// of clipped values, each in units of its standard error.
//
// Units: those of the values. Thread-safety: pure functions. Cost: O(n), some copies of the values.
// Source: least-squares estimate of one change in mean (Hinkley 1970), on clipped values.
#ifndef FATHOM_DIAGNOSIS_STATS_STEP_H_
#define FATHOM_DIAGNOSIS_STATS_STEP_H_

#include <cstddef>
#include <vector>

namespace fathom::diagnosis {

// What keeps single values from deciding.
struct StepLimits {
  double spike;        // sigmas, at which values are clipped
  double noise_floor;  // of the median: the least spread
};

struct Side {
  double median = 0;
  double sigma = 0;
  double count = 0;
};

Side SideOf(const std::vector<double>& values, const StepLimits& limits);

struct Split {
  std::size_t at = 0;  // first value of the later side
  double score = 0;    // difference of means in standard errors, by the spread of all values
};

// Of the splits low … high − 1. Requires: 0 < low; high ≤ values.size().
Split BestSplit(std::vector<double> values, std::size_t low, std::size_t high,
                const StepLimits& limits);

// Mean of the values, each no further than `most` from their median: with three sigmas nearly as
// exact as the mean of normal values, and one spike of ten moves it by less than its error.
double ClippedMean(const std::vector<double>& values, double most);

// Levels on both sides of a split (ClippedMean), and one spread for both: few values tell theirs
// badly.
struct Step {
  double before = 0;
  double after = 0;
  double sigma = 0;
  double error = 0;  // standard error of the difference

  double Rise() const { return after - before; }
  double Score() const { return error > 0 ? Rise() / error : 0; }
};

// Requires: 0 < split < values.size(), and values that are times.
Step StepAt(const std::vector<double>& values, std::size_t split, const StepLimits& limits);

// `share` of the values or more are on their side of the limit.
bool Apart(const std::vector<double>& values, double limit, bool above, double share);

// What grows all the while has a best split too, but a straight line explains it better: a step
// leaves no more unexplained than the line; spikes of either side count as clipped. Requires:
// neither is empty.
bool BetterThanALine(const std::vector<double>& earlier, const std::vector<double>& later,
                     const StepLimits& limits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_STATS_STEP_H_
