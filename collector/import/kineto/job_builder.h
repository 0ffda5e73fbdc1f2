// Turns the sifted traces of all ranks into the view that diagnosis reads.
//
// Used by KinetoImporter after all files are read.
//
// Model: an op belongs to the iteration N whose mark, ProfilerStep#N or one that MarkSteps() put,
// spans its call. The iteration itself is taken from the end of the last collective before the mark
// to the end of the last collective within it, as a live job's is: ranks leave those together,
// while their marks lie apart by as much as one waits for another, and what a rank does after its
// last op of a step delays the first op of the next. Without collectives the last message, else the
// mark is the border. Sequence: `Seq` of the trace where it is given, else (iteration, order in
// it), which is equal on all members as long as they run the same program. A group whose identity
// was guessed is marked so.
//
// What stands in for what a live job measures:
//   cpu       time the training thread was inside ops (cpu_op), with time without a core
//   blocked   waits of CommJoiner; on devices the time in communication kernels that no other
//             kernel covered
//   elapsed   of ops on a device: from the start of the kernel
//
// Thread-safety: pure. Errors: none; what is odd becomes a note. Cost: O(ops log ops).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_JOB_BUILDER_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_JOB_BUILDER_H_

#include <vector>

#include "collector/import/kineto/trace/rank_trace.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector::kineto {

// Requires: by rank, and those of one rank, its windows, by time with ascending steps.
void AddTraces(const std::vector<RankTrace>& traces, Recording& recording);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_JOB_BUILDER_H_
