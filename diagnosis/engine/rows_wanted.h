// Which rows would tell why a job is slow or stuck: few iterations, and as few ranks as will do.
//
// Used by Watch(). Model: the newest irregular iterations since the onset and the newest regular
// ones before it; all ranks of a small job, of a large one those whose own time grew most by the
// summaries, the members of their smaller communicators, and some of the least suspicious ranks for
// comparison. The next call asks again, so that the choice follows the evidence (Holmes fetches
// progressively in a similar way).
// Thread-safety: pure function. Cost: O(ranks × groups × iterations looked at).
#ifndef FATHOM_DIAGNOSIS_ENGINE_ROWS_WANTED_H_
#define FATHOM_DIAGNOSIS_ENGINE_ROWS_WANTED_H_

#include <cstddef>

#include "diagnosis/engine/config.h"
#include "diagnosis/engine/series.h"
#include "diagnosis/engine/watch.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// Rows for a slow job whose episode began at points[onset].
RowsWanted RowsForSlow(const JobView& view, const JobSeries& series, std::size_t onset,
                       const DiagnosisConfig& config);

// Rows for a stuck job: its last iteration and the one in which it is stuck.
RowsWanted RowsForStall(const JobView& view, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_ENGINE_ROWS_WANTED_H_
