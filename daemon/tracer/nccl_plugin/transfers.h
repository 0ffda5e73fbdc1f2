// The transfers that NCCL's proxy thread carries out for ops in flight, kept in shared memory: how
// far each one is, so that it can be seen where an op that never ends got stuck.
//
// Used by plugin.cc. A transfer is one ProxyOp event of NCCL: what the rank sends to, or receives
// from, one other rank on one channel; its steps are ProxyStep events, in version 3 counts that
// come with the ProxyOp's states. abi/transfer_slot.h says what the counts mean.
//
//   StartTransfer ── NoteStep … EndStep ──┐
//                └─ NoteSteps (version 3) ┴─ EndTransfer
//
// Model: no records; the counts are overwritten in place. What is at hand when a rank hangs is what
// was told before, for NCCL keeps the event mask of an op from its enqueueing. A slot is looked for
// among kProbes places from the next one on; where none is free the transfer is not told.
// Of a send of version 3 it is not told what the GPU has filled: `gpu` follows `posted`.
//
// Thread-safety: thread-safe; the counts of a transfer are written by the one thread that moves it.
// What comes for a transfer that was given back (DropTransfers) does nothing.
// Cost: hot path, on NCCL's proxy thread: one compare-and-swap a transfer, one load and one store a
// count; no allocation, lock or system call.
#ifndef FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TRANSFERS_H_
#define FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TRANSFERS_H_

#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"
#include "daemon/tracer/nccl_plugin/profiler_abi.h"
#include "daemon/tracer/nccl_plugin/tasks.h"

namespace fathom::tracer::nccl_plugin {

inline constexpr std::uint32_t kProbes = 16;

// Begins a transfer of `op`; no handle where there is no free slot.
Handle StartTransfer(const TracerState& state, const OpRef& op, const ProxyOpBody& proxy);

// A step of the transfer came to `what`, one of kStep….
void NoteStep(const TracerState& state, Handle step, int what);
// It is over.
void EndStep(const TracerState& state, Handle step);

// `steps` of the transfer came to `what`, one of kOp….
void NoteSteps(const TracerState& state, Handle transfer, int what, std::uint32_t steps);

void EndTransfer(const TracerState& state, Handle transfer);

// All transfers of a group that is no more.
void DropTransfers(const TracerState& state, std::uint16_t group_slot);

}  // namespace fathom::tracer::nccl_plugin

#endif  // FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TRANSFERS_H_
