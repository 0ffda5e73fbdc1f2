// Which steps of a trace that was cut are not there as a whole.
//
// Used by RankReader for traces whose file ends early.
//
// Model: PyTorch writes the events of one thread after those of another, each thread's by begin. A
// cut file so lacks whole threads, and the end of the last one that it holds. What is left of a
// step looks like a step in which little was waited for. A step is whole if each collective of the
// host in it has a run, and the training thread is there beyond its end; the step after one that is
// not whole has no known begin (it begins with an end in the one before) and may wait for what that
// one called, so it counts as lost, too.
//
// Thread-safety: pure functions. Errors: none. Cost: O(ops log steps).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_WHOLE_STEPS_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_WHOLE_STEPS_H_

#include <cstdint>
#include <set>

#include "collector/import/kineto/trace/comm_joiner.h"
#include "collector/import/kineto/trace/rank_trace.h"

namespace fathom::collector::kineto {

// Place of the last step that began by `time`; −1: none. Requires: steps by begin.
std::ptrdiff_t StepAt(const RankTrace& trace, std::int64_t time);

// Numbers of the steps that a cut trace holds in part; empty where it was not cut.
std::set<std::int64_t> StepsInPart(const RankTrace& trace, const JoinedOps& joined,
                                   std::int64_t training_thread);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_WHOLE_STEPS_H_
