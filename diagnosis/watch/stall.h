// Which ranks have fallen silent for longer than their own history explains?
//
// Used by Watch() and by diagnosis/hang/live/hang.
//
// Model: a rank is stalled when nothing came from it for longer than stall_factor × its own
// iteration, than a floor, and than stall_history_factor × the longest iteration that the job and
// the longest pause that the rank has shown. Before it has baseline_iterations behind it, or
// without a period, the longest pause among its latest ops stands for its iteration; where too few
// ops are known only the start-up floor counts: a slow first step is not a hang. A process that is
// gone without having said so is stalled at once; one that left in order is not. Thread-safety:
// pure functions. Cost: O(ranks + window).
#ifndef FATHOM_DIAGNOSIS_WATCH_STALL_H_
#define FATHOM_DIAGNOSIS_WATCH_STALL_H_

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// The longest job iteration of the window after the first, which is often a slow one.
Nanos LongestIteration(const JobView& view);

// How long this rank may be silent. `longest` as above.
Nanos StallThreshold(const RankFacts& rank, Nanos longest, const DiagnosisConfig& config);

// True for a process that vanished, or died and was not yet waited for.
bool IsDead(ProcessState state);
bool IsDead(const RankFacts& rank);

bool IsStalled(const RankFacts& rank, Nanos longest, const DiagnosisConfig& config);

// Whether anything that is known of the job is of now: of one rank at least.
bool AnyInReach(const JobView& view);

// A rank whose agent is out of reach counts only where all are: its silence is old, and the job may
// have moved on.
bool AnyStalled(const JobView& view, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_STALL_H_
