// Which of the traces that were read are one job's one run, and in which order.
//
// Used by KinetoImporter once all files are read. A folder may hold what several windows of the
// profiler wrote (`schedule(..., repeat=2)` writes a file each), copies, and what another run left.
//
// Model: a trace goes on from another of its rank if it begins after the other ended, both mark
// their steps and those of the later are higher, and no two processes are told: such traces are
// windows of one recording. One that overlaps another in time is a second trace of the rank, if
// both may be of one process; two processes at the same time are two jobs. What does not go on is
// another run; the run is kept that most ranks have a trace of at the same time, of equals the
// latest. Traces that tell different sizes of the job are of two: the fewer are left out, and of as
// many of each it is an error.
//
// Files that name no rank in any way get the numbers that are left, in order of name, windows of
// one process the same.
//
// Units: wall clock of each host. Thread-safety: pure. Errors: InvalidArgument (two jobs); what is
// left out becomes a note. Cost: O(traces log traces), of several runs O(runs²).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_ONE_RUN_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_ONE_RUN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "collector/import/kineto/trace/rank_trace.h"
#include "collector/import/reading/importer.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector::kineto {

// Numbers the traces; those of one job and run, by rank and time.
absl::StatusOr<std::vector<RankTrace>> KeepOneRun(std::vector<RankTrace> traces,
                                                  const ImportLimits& limits, Recording& recording);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_ONE_RUN_H_
