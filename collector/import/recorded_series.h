// The iteration times of a recording as one series, without what only the profiler's start made
// long.
//
// Used by episode.h and passed_stretch.h.
//
// Model: the time of an iteration is the median over its ranks. Starting a profiler shows in the
// first iteration of each of its windows: where that took longest of its window, of three or more,
// it is left out. The others are in any order by chance alone as they were before, so tests of rank
// hold.
//
// Units: seconds. Thread-safety: pure. Errors: none. Cost: O(iterations × ranks).
#ifndef FATHOM_COLLECTOR_IMPORT_RECORDED_SERIES_H_
#define FATHOM_COLLECTOR_IMPORT_RECORDED_SERIES_H_

#include <cstddef>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::collector {

struct RecordedIteration {
  std::size_t place = 0;  // in the view's window
  Iteration index;
  WallNs begin;
  double seconds = 0;
};

std::vector<RecordedIteration> RecordedSeries(const diagnosis::JobView& view);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_RECORDED_SERIES_H_
