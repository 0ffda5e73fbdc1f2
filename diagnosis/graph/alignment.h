// How far the clocks of ranks are apart, from the ends of the collectives they share.
//
// Used for display (timelines of several ranks) and to say in the report how well times of
// different ranks can be compared. Never used to decide who came late: durations tell that.
//
// Model: members of a synchronising collective leave together, so the difference between their ends
// is the difference of their clocks plus noise. The offset of a rank is the median of that
// difference to a rank whose offset is known, over all collectives both are done with, step by step
// from the lowest rank of each set of ranks that share collectives; residual is the median distance
// of single collectives from it, added up along the way to the reference.
//
// Units: ns; local time − offset = time on the clock of the reference. Thread-safety: pure
// function. Errors: none; a rank that shares too few collectives with any other is not aligned.
// Cost: O(members of all collectives × log).
#ifndef FATHOM_DIAGNOSIS_GRAPH_ALIGNMENT_H_
#define FATHOM_DIAGNOSIS_GRAPH_ALIGNMENT_H_

#include <cstddef>
#include <map>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct RankClock {
  Nanos offset;            // its clock less that of the reference
  Nanos residual;          // 0 for the reference
  RankId reference;        // lowest rank of those it can be compared with
  std::size_t shared = 0;  // collectives that it rests on; 0 for the reference
};

struct ClockAlignment {
  std::map<RankId, RankClock> ranks;  // those that could be aligned, references included
  Nanos residual;                     // the largest of any rank
  Nanos largest;                      // the largest distance between two clocks of one reference
};

ClockAlignment AlignClocks(const JobView& view);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_ALIGNMENT_H_
