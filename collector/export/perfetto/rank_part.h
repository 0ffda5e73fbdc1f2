// What of each rank goes into a trace for Perfetto: the rows, the timeline where one was kept, how
// far its clock is off, and up to when it is drawn.
//
// Used by job_trace, rank_tracks and flows. Model: where all ranks together have more slices than
// allowed, each gets an equal share, and is drawn whole up to the moment its share is used up:
// one cut for all tracks of the rank, so that nothing seems not to have happened before it.
// A clock is put right where collectives tell that it is off by more than they are uncertain of
// (diagnosis/graph), and not between ranks of one node, which share a clock.
//
// Units: ns; `until` on the rank's own clock. Thread-safety: plain values, pure functions.
// Lifetime: refers to the input. Errors: none. Cost: O(rows); of ranks that are cut 8 bytes a
// slice.
#ifndef FATHOM_COLLECTOR_EXPORT_PERFETTO_RANK_PART_H_
#define FATHOM_COLLECTOR_EXPORT_PERFETTO_RANK_PART_H_

#include <cstdint>
#include <vector>

#include "diagnosis/graph/alignment.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/tables/device_timeline.h"

namespace fathom::collector::perfetto {

struct RankPart {
  RankId rank;
  const diagnosis::RankFacts* facts = nullptr;                        // may be null
  const diagnosis::RankRows* rows = nullptr;                          // likewise
  const std::vector<diagnosis::DeviceTimeline>* timelines = nullptr;  // likewise
  std::int64_t shift = 0;                                             // its clock is ahead by it
  std::int64_t until = diagnosis::kNothingCut;  // what begins from here on is left out
  std::uint64_t left_out = 0;                   // so much of it
};

// By rank. `most`: slices of all ranks together; `timelines` and `clocks` may be null.
std::vector<RankPart> PartsOf(const diagnosis::JobView& view,
                              const diagnosis::DeviceTimelines* timelines,
                              const diagnosis::ClockAlignment* clocks, std::uint64_t most);

// The rank's row of an iteration; null where it has none or its begin is not known.
const diagnosis::RankIteration* RowOf(const diagnosis::IterationSummary& summary, RankId rank);

}  // namespace fathom::collector::perfetto

#endif  // FATHOM_COLLECTOR_EXPORT_PERFETTO_RANK_PART_H_
