// The story of an op, told by the hooks: entered, works made, taken up, ended, waited for.
//
// Called by daemon/tracer/interpose with plain values; knows no framework. Each function puts at
// most one record of the op into the ring (event_record.h says what they carry); BeginOp and
// BeginDeviceOp put the CUDA calls made since the last one (device_calls.h) before it.
//
//   BeginOp ── real call ── EndOp          the thread that calls the API
//   BeginDeviceOp ── call ── EndDeviceOp   the same, of an op that a GPU carries out
//   NoteGpuStart, NoteGpuEnd               when the profiler tells of it, on any thread
//      └ NoteSequence, NoteWork …          inside the real call, same thread
//   BeginExec ── real run ── EndExec       the worker
//   BeginWait ── real wait ── EndWait      whoever blocks
//   FailFrame                              in place of the End, when the real call threw
//
// Thread-safety: thread-safe; a Frame belongs to the thread whose stack it is on.
// Ownership: frames are the caller's and must outlive the real call.
// Errors: never fails; drop reasons are counted in the region. Cost: hot path, no allocation, no
// lock, no system call.
#ifndef FATHOM_DAEMON_TRACER_CORE_OP_RECORDER_H_
#define FATHOM_DAEMON_TRACER_CORE_OP_RECORDER_H_

#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"
#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"

namespace fathom::tracer {

// What the caller of an op gave.
struct OpCall {
  CollectiveKind kind = CollectiveKind::kUnknown;
  DataType data_type = DataType::kUnknown;
  bool bytes_known = false;
  std::uint32_t peer = abi::kNoPeer;
  std::uint64_t group = 0;  // address of the framework's group object; for BeginOp
  std::uint64_t bytes = 0;
};

// What more is known of an op that runs on a GPU.
struct DeviceOp {
  std::uint16_t group_slot = abi::kNoGroupSlot;
  std::uint64_t stream = 0;    // opaque key
  std::uint8_t reduction = 0;  // as EventRecord::reduction
  bool end_follows = false;    // something will tell when it runs: NoteGpuStart, NoteGpuEnd
};

// OpCall without its group, in two words: so it is handed on in registers.
struct PackedCall {
  std::uint64_t what;  // as PackedRecord::what, with the peer in place of the thread
  std::uint64_t bytes;
};

[[gnu::always_inline]] inline PackedCall Packed(const OpCall& call) {
  const std::uint8_t flags = call.bytes_known ? 0 : abi::kFlagBytesUnknown;
  return {PackedRecord::What(abi::RecordKind::kOpEnter, static_cast<std::uint8_t>(call.kind),
                             static_cast<std::uint8_t>(call.data_type), flags) |
              call.peer,
          call.bytes};
}

// True if this thread is inside an op: what is called now is the framework's own doing.
inline bool InsideOp() {
  return thread_state.frame != nullptr && thread_state.frame->type == FrameType::kOp;
}
// True if this thread is inside an op or a wait.
inline bool InsideOpOrWait() {
  return thread_state.frame != nullptr && thread_state.frame->type != FrameType::kExec;
}
// Whether the innermost frame is still there: one that lies deeper than this call was left behind
// by a jump (longjmp) past its hook, and is forgotten. Deeper than it was, a call cannot tell.
bool FrameStands();
// Where a hook begins, or what it may find is written to.
inline bool InsideStandingOp() { return InsideOp() && FrameStands(); }

void BeginPackedOp(TracerState& state, std::uint64_t group, PackedCall call, Frame* frame);
[[gnu::always_inline]] inline void BeginOp(TracerState& state, const OpCall& call, Frame* frame) {
  BeginPackedOp(state, call.group, Packed(call), frame);
}
// `work` is the address of the object the call returned, 0 if it returned none. Writes a record
// only where it says something: the op is done or failed, its number or its work is not what the
// records before tell, the call took long.
void EndOp(TracerState& state, Frame* frame, std::uint64_t work);

// An op that the call only puts on a stream of a GPU. EndDeviceOp writes a record only where it
// says something: the call failed or took long, the op was captured, its end will be told after
// all.
void BeginDeviceOp(TracerState& state, const OpCall& call, const DeviceOp& device, Frame* frame);
void EndDeviceOp(TracerState& state, Frame* frame, bool failed);
// The op this thread is in goes into a graph that is being built.
void NoteCaptured();
// Its end will be told, which was not known when it was entered.
void NoteEndFollows();
// It was entered, but what would have run it could not be launched.
void NoteNeverRuns(const TracerState& state, const OpRef& op);
// The GPU took up an op, or finished it (a part of it); GPU clock, 0 where it is not told. `first`:
// count it in its group's progress.
void NoteGpuStart(const TracerState& state, const OpRef& op, std::uint64_t gpu_ns);
void NoteGpuEnd(const TracerState& state, const OpRef& op, std::uint64_t gpu_start_ns,
                std::uint64_t gpu_end_ns, bool first);

// The framework drew the number of the op it is in; keeps the group's count in step without one.
void NoteSequence(TracerState& state, std::uint64_t group, std::uint64_t sequence);
// The framework made an asynchronous work for the op it is in. Requires: InsideOp().
void NoteWork(TracerState& state, std::uint64_t work);
// A point-to-point op handed `buffer` to the transport, and later made `work` for it.
void NoteBuffer(TracerState& state, std::uint64_t buffer);
void NoteBufferWork(TracerState& state, std::uint64_t work);
// The transport is done with `buffer`. Nothing happens if it is not one of a point-to-point op.
void NoteBufferDone(TracerState& state, std::uint64_t buffer);
// `work` is no more.
void NoteWorkGone(TracerState& state, std::uint64_t work);

void BeginExec(TracerState& state, std::uint64_t work, Frame* frame);
// The op this worker runs is over, and its waiters are about to be woken: its end is now.
void NoteExecDone(TracerState& state, bool failed);
void EndExec(TracerState& state, Frame* frame);

// A wait for one work. False, and no frame, if the work is not one of an op that was told.
bool BeginWait(TracerState& state, std::uint64_t work, Frame* frame);
// A wait for all that this thread has entered (kFlagWaitAll).
void BeginWaitAll(TracerState& state, Frame* frame);
void EndWait(TracerState& state, Frame* frame);

// Ends this thread's innermost frame, whose real call threw.
void FailFrame();

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_OP_RECORDER_H_
