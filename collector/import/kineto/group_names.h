// Which communicator an op belongs to, where the trace does not say: Gloo's events name none.
//
// Used by JobBuilder, one rank at a time; JoinRecords corrects it where a dump knows better.
//
// Model: the header lists the groups of the rank by name, a number that grows in the order of
// construction. Each Gloo group runs its ops on two worker threads of its own, created together, so
// thread ids in order, two by two, are the groups in order: where all of them ran (groups of one
// member left out if they did not). Else threads that ran ops of the same kind and size are one
// group; that many groups in order, or for one set of threads the group of all ranks. Otherwise
// nothing is said: an op of an unknown group accuses nobody.
// Send and recv run on the calling thread: the first group of all ranks, in which the numbers of
// the group and of the job are the same.
//
// NCCL's events of before PyTorch 2.1 name no group either, and their header lists none: then there
// is one group, of all ranks, if no size that an op tells contradicts.
//
// Thread-safety: pure function. Errors: none. Cost: O(n log n).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_GROUP_NAMES_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_GROUP_NAMES_H_

#include "collector/import/kineto/trace/comm_joiner.h"
#include "collector/import/kineto/trace/rank_trace.h"

namespace fathom::collector::kineto {

// Name of the group of all ranks where the trace names none.
inline constexpr char kGroupOfAll[] = "all";

// Fills call.group of the ops without one. True: something was filled, and is a guess unless the
// rank is in one group only.
bool NameGroups(const RankTrace& trace, JoinedOps& joined);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_GROUP_NAMES_H_
