// The own times of one rank after the other, an entry for each point of a series.
//
// Used by watch/rank_shift. Model: own time is the duration of an iteration without what of it the
// rank was blocked in communication. Ranks that lack one of the points are left out. Nothing but
// the rank at hand is kept: a large job has a hundred million numbers.
//
// Units: seconds. Thread-safety: thread-compatible. Cost: O(ranks × points) for all of them.
#ifndef FATHOM_DIAGNOSIS_WATCH_OWN_TIMES_H_
#define FATHOM_DIAGNOSIS_WATCH_OWN_TIMES_H_

#include <cstddef>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/series.h"

namespace fathom::diagnosis {

class OwnTimes {
 public:
  // The view must outlive it; `series` is that of the view.
  OwnTimes(const JobView& view, const JobSeries& series);

  // Goes to the next rank, or the one after that if `every` is 2, and so on; false: there is none.
  bool Next(std::size_t every = 1);
  // Of the newest iteration.
  std::size_t ranks() const { return iterations_.empty() ? 0 : iterations_.back()->size(); }
  // Of the rank at hand. Requires: Next() was true.
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  bool Read(RankId rank);

  std::vector<const std::vector<RankIteration>*> iterations_;  // of the points
  std::vector<std::size_t> at_;                                // in each of them
  std::size_t next_ = 0;                                       // in the newest one
  std::vector<double> seconds_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_OWN_TIMES_H_
