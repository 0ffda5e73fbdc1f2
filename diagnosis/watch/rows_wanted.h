// Which rows would tell why a job is slow or stuck: few iterations, and as few ranks as will do.
//
// Used by Watch(). Model: the newest irregular iterations since the onset and the newest regular
// ones before it, which Diagnose() compares them with; all ranks of a small job. Of a large one
// (Holmes fetches progressively in a similar way):
//
//   summaries name suspects   those, the members of their smaller communicators, the next
//                             suspicious ones and some innocent ones for comparison;
//                             a quarter of all_ranks_up_to for each, the same ranks again while
//                             they will do
//   nobody's own time grew,   those on most slow channels, and a quarter of innocent ones
//   transfers did
//   they do not, or rows of   all_ranks_up_to: those whose own time grew most, their communicators,
//   few did not tell          and innocent ones; chosen anew each time, as the evidence goes
//
// A suspect is a rank whose own time grew by explains_share of what the iterations did: with less
// it could not be convicted. In a job that does not tell time of its own from waiting all ranks are
// suspects, and few ranks are not enough. Where iterations have hundreds of ops, all ranks are
// fewer than all_ranks_up_to: rows that nobody can keep would be asked for look after look.
// Thread-safety: pure function. Cost: O(ranks × (iterations looked at + log ranks) + suspects ×
// members of their groups).
#ifndef FATHOM_DIAGNOSIS_WATCH_ROWS_WANTED_H_
#define FATHOM_DIAGNOSIS_WATCH_ROWS_WANTED_H_

#include <cstddef>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/series.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis {

// Rows for a slow job whose episode began at `onset`. `known`: the episode as it was seen last.
RowsWanted RowsForSlow(const JobView& view, const JobSeries& series, Iteration onset,
                       const Episode& known, const DiagnosisConfig& config);

// Rows for a stuck job: its last order_iterations and the one in which it is stuck; of a large job
// of the ranks of a ring only.
RowsWanted RowsForStall(const JobView& view, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_ROWS_WANTED_H_
