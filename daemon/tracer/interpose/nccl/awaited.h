// Communicators that were ordered and whose address NCCL has not told yet.
//
// Used by comm_shims.cc and group_shims.cc. A split or a shrunk communicator that is made inside a
// group, or of a parent with blocking = 0, is written into the caller's variable later, by a thread
// of NCCL's: at the end of the group, or by the time the parent is no longer in progress (as of
// NCCL 2.32). What is known of it, its identity above all, is only known at the call.
//
// Model: the caller's variable is remembered with the birth, and looked at where NCCL has just
// promised to have written it: as the outermost group ends well on the thread of the call, and as
// the parent is told to be no longer in progress. Then it is forgotten, or when its parent ends.
// Until then the caller must keep the variable, because NCCL writes it.
// Thread-safety: thread-safe; one thread at a time looks at the table. Errors: more than
// kMaxAwaited at once: those have no identity. After a fork all is forgotten. Cost: cold, but
// AnyAwaited (a load).
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_AWAITED_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_AWAITED_H_

#include "daemon/tracer/interpose/nccl/communicators.h"

namespace fathom::tracer::nccl {

inline constexpr std::size_t kMaxAwaited = 64;

extern constinit std::atomic<std::uint32_t> awaited_count __attribute__((visibility("hidden")));
inline bool AnyAwaited() { return awaited_count.load(std::memory_order_relaxed) != 0; }

// NCCL will write `made`. `parent` may be null; `in_group`: as this thread's outermost group ends.
void Await(const TracerState& state, Comm* made, Comm parent, bool in_group, const Birth& birth);

// This thread's outermost group ended: what it ordered was made (`well`), was not (neither), or is
// still being made (`in_progress`): then its parent will say.
void EndAwaitedGroup(TracerState& state, bool well, bool in_progress);

// `parent` is no longer in progress.
void TakeAwaitedOf(TracerState& state, Comm parent);

// `parent` is about to end.
void ForgetAwaitedOf(const TracerState& state, Comm parent);

}  // namespace fathom::tracer::nccl

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_AWAITED_H_
