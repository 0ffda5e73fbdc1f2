// The windows of a profiler: the stretches of steps that one recording holds, with nothing known
// between them.
//
// Used by KinetoImporter. `torch.profiler.schedule(wait, warmup, active, repeat)` records `active`
// steps, pauses, and records again; each window becomes a file, or with acc_events one file holds
// all. Steps of different windows follow one another in number and not in time.
//
// Model: a trace is cut before a step whose number does not follow on the one before, where neither
// the training thread nor communication was seen for more than half of the time between; each part
// is then a RankTrace of its own, whose first iteration begins with its mark. Windows of different
// ranks are the same where their steps overlap.
//
// Thread-safety: pure functions. Errors: none. Cost: O(steps); a cut copies the trace once.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_WINDOWS_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_WINDOWS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "collector/import/kineto/trace/rank_trace.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector::kineto {

// The windows of the file, by time; the trace itself where it has one.
std::vector<RankTrace> CutIntoWindows(RankTrace trace);

// Steps from the first to the last that any rank recorded in a window, by number.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
std::vector<StepRange> WindowsOf(const std::vector<RankTrace>& traces);
bool Holds(const RankTrace& trace, const StepRange& window);

// Adds the signal "windows" and a note, where there are several, and which ranks lack which.
void TellWindows(const std::vector<RankTrace>& traces, Recording& recording);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_WINDOWS_H_
