// The communication ops that went into graphs: told anew each time their graph is launched.
//
// Written by daemon/tracer/interpose/nccl (an op is captured) and by daemon/tracer/interpose/cuda
// (captures, graphs and their launches) with plain values; daemon/tracer/nccl_plugin asks which op
// an event of a running graph belongs to. Knows no CUDA.
//
//   AddCapturedOp ×n ── EndCapture ─→ graph ── Instantiate ─→ executable ── LaunchGraph ×k
//   plugin: an event of the op  ──→ TakeReplay: its oldest launch that has not run yet
//
// Model: an op that is captured does not run; the thread that launches the graph enters all of its
// ops, in the order in which they were captured. So their numbers agree on all ranks, for ranks
// launch the same graphs in the same order between the same calls. The n-th event of a captured op
// is that of its n-th launch, because launches of one executable graph do not overlap.
// Whether the end of an op will be told must not be promised wrongly: it is promised from the
// launch after the op's first event on, and while at most kAhead launches have not run.
// Graphs whose making is not seen (added to another as a child, cloned) are not told.
//
// Handles are opaque keys, of the host. A captured op is kept while its graph, or an executable one
// made of it, is there. Static tables: kGraphOps ops, HandleTable::kPlaces graphs, kCaptures
// captures at a time; a capture for which there is no room is not told at all, and counted.
// Thread-safety: thread-safe where the host may be: several threads may capture, launch, and run.
// After a fork all is forgotten. Cost: a launch of a graph without such ops, one look into a table;
// of one with them, an op each. No allocation, lock or system call.
#ifndef FATHOM_DAEMON_TRACER_CORE_GRAPH_OPS_H_
#define FATHOM_DAEMON_TRACER_CORE_GRAPH_OPS_H_

#include <cstddef>
#include <cstdint>

#include "daemon/tracer/core/op_recorder.h"
#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {

inline constexpr std::size_t kGraphOps = 8192;
inline constexpr std::size_t kCaptures = 16;
inline constexpr std::uint32_t kAhead = 8;

// A captured op; place 0 is none.
struct CapturedOp {
  std::uint32_t place = 0;
  std::uint32_t generation = 0;  // of the place
};

// The op `call` on `device` was captured by the capture `id`.
CapturedOp AddCapturedOp(const TracerState& state, std::uint64_t id, const OpCall& call,
                         const DeviceOp& device);
// Its call failed: it is in no graph.
void DropCapturedOp(CapturedOp op);

// The capture `id` is over and became part of `graph`; 0: it failed.
void EndCapture(const TracerState& state, std::uint64_t id, std::uint64_t graph);
// `executable` runs what `graph` holds, from now on.
void InstantiateGraph(const TracerState& state, std::uint64_t executable, std::uint64_t graph);
void ForgetGraph(const TracerState& state, std::uint64_t graph);
void ForgetExecutable(const TracerState& state, std::uint64_t executable);

// Enters the ops of `executable`, which is launched next on this thread.
void LaunchGraph(TracerState& state, std::uint64_t executable);
// That launch failed: they never run.
void NoteLaunchFailed(const TracerState& state, std::uint64_t executable);

// The op of an event of a captured op that runs; op_id 0 where nobody waits for its end.
OpRef TakeReplay(CapturedOp op);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_GRAPH_OPS_H_
