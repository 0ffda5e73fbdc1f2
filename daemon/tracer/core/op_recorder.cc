#include "daemon/tracer/core/op_recorder.h"

#include "daemon/tracer/core/clock.h"
#include "daemon/tracer/core/device_calls.h"
#include "daemon/tracer/core/group_table.h"
#include "daemon/tracer/core/window.h"

namespace fathom::tracer {
namespace {

using abi::RecordKind;

// A frame that lies deeper than this one was left behind by a jump past its hook: it is no more.
void Link(Frame* frame, FrameType type) {
  Frame* outer = thread_state.frame;
  frame->outer = outer > frame ? outer : nullptr;
  frame->type = type;
  thread_state.frame = frame;
}

void Unlink(Frame* frame) { thread_state.frame = frame->outer; }

// The real call forked, and this is the child coming back from it: there is nothing to write to.
bool IsForkedChild(const TracerState& state) { return state.epoch != thread_state.epoch; }

void Write(const TracerState& state, RecordKind kind, abi::EventRecord& record) {
  record.time_ns = MonotonicNs();
  record.record_kind = static_cast<std::uint8_t>(kind);
  AppendRecord(state.region, record);
}

void Count(const TracerState& state, std::uint16_t slot,
           std::atomic<std::uint64_t> abi::GroupSlot::*word) {
  if (slot < abi::kGroupSlots) {
    (state.region.groups[slot].*word).fetch_add(1, std::memory_order_relaxed);
  }
}

bool IsCollective(const abi::EventRecord& record) {
  return !IsPointToPoint(static_cast<CollectiveKind>(record.collective_kind));
}

abi::EventRecord RecordOf(const OpRef& op, std::uint64_t work) {
  abi::EventRecord record = {};
  record.thread_id = thread_state.thread_id;
  record.collective_kind = op.kind;
  record.group_slot = op.group_slot;
  record.peer = abi::kNoPeer;
  record.op_id = op.op_id;
  record.sequence = abi::kNoSequence64;
  record.extra = work;
  return record;
}

OpRef RefOf(const abi::EventRecord& record) {
  return {record.op_id, record.group_slot, record.collective_kind};
}

void WriteExecEnd(const TracerState& state, Frame* frame) {
  if (frame->ended) return;
  frame->ended = true;
  Count(state, frame->entry.group_slot, &abi::GroupSlot::completed);
  Write(state, RecordKind::kExecEnd, frame->entry);
}

// An op that is done when its call returns has had no worker: it counts as started and completed.
void CountDoneAtReturn(const TracerState& state, const Frame& frame) {
  if (!IsCollective(frame.entry) || frame.works != 0) return;
  Count(state, frame.entry.group_slot, &abi::GroupSlot::started);
  Count(state, frame.entry.group_slot, &abi::GroupSlot::completed);
}

}  // namespace

void BeginOp(TracerState& state, const OpCall& call, Frame* frame) {
  FlushDeviceCalls(state);
  abi::EventRecord& record = frame->entry;
  abi::ControlBlock* control = state.region.control;
  const std::uint16_t slot = FindGroup(state, call.group, thread_state.group_hint);
  const bool collective = !IsPointToPoint(call.kind);
  record.thread_id = thread_state.thread_id;
  record.collective_kind = static_cast<std::uint8_t>(call.kind);
  record.data_type = static_cast<std::uint8_t>(call.data_type);
  record.flags = call.bytes_known ? 0 : abi::kFlagBytesUnknown;
  record.group_slot = slot;
  record.peer = call.peer;
  record.op_id = control->next_op_id.fetch_add(1, std::memory_order_relaxed) + 1;
  record.sequence = abi::kNoSequence64;
  record.bytes = call.bytes;
  if (collective && slot < abi::kGroupSlots) {
    record.sequence = state.next_sequence[slot].load(std::memory_order_relaxed);
    Count(state, slot, &abi::GroupSlot::entered);
  }
  NoteEntryForWindow(state, slot, record.sequence);
  Link(frame, FrameType::kOp);
  Write(state, RecordKind::kOpEnter, record);
  control->heartbeat_ns.store(static_cast<std::uint64_t>(record.time_ns),
                              std::memory_order_relaxed);
  thread_state.group_hint = slot;
  if (collective) thread_state.last_op = RefOf(record);
}

void EndOp(TracerState& state, Frame* frame, std::uint64_t work) {
  if (IsForkedChild(state)) return Unlink(frame);
  abi::EventRecord& record = frame->entry;
  if (work != 0) {
    record.flags |= abi::kFlagAsync;
    // Where the constructor of the work could not be hooked, its address is first known here.
    if (frame->works == 0) state.works.Insert(work, RefOf(record));
  } else {
    CountDoneAtReturn(state, *frame);
  }
  if (!frame->saw_tag && IsCollective(record)) {
    record.flags |= abi::kFlagSequenceGuess;
    const bool took_one = (record.flags & abi::kFlagFailed) == 0;
    if (took_one && record.group_slot < abi::kGroupSlots) {
      state.next_sequence[record.group_slot].fetch_add(1, std::memory_order_relaxed);
    }
  }
  record.extra = work;
  Write(state, RecordKind::kOpReturn, record);
  Unlink(frame);
}

void NoteSequence(TracerState& state, std::uint64_t group, std::uint64_t sequence) {
  const std::uint16_t slot = FindGroup(state, group, thread_state.group_hint);
  if (slot >= abi::kGroupSlots) return;
  state.next_sequence[slot].store(sequence + 1, std::memory_order_relaxed);
  Frame* frame = thread_state.frame;
  if (!InsideOp() || frame->saw_tag || frame->entry.group_slot != slot) return;
  frame->saw_tag = true;
  if (frame->entry.sequence != sequence)
    CountDrop(state.region, abi::DropReason::kSequenceMismatch);
  frame->entry.sequence = sequence;
}

void NoteWork(TracerState& state, std::uint64_t work) {
  if (!InsideOp()) return;
  Frame* frame = thread_state.frame;
  if (!state.works.Insert(work, RefOf(frame->entry))) {
    CountDrop(state.region, abi::DropReason::kInternal);
  }
  // A collective carried out in several works counts once for each, so that in flight stays
  // entered − completed.
  if (frame->works++ > 0) Count(state, frame->entry.group_slot, &abi::GroupSlot::entered);
}

void NoteBuffer(TracerState& state, std::uint64_t buffer) {
  if (!InsideOp() || IsCollective(thread_state.frame->entry)) {
    state.buffers.Remove(buffer);  // the address may be that of a buffer that never completed
    return;
  }
  const OpRef op = RefOf(thread_state.frame->entry);
  if (!state.buffers.Insert(buffer, op)) CountDrop(state.region, abi::DropReason::kInternal);
  abi::EventRecord record = RecordOf(op, 0);
  Write(state, RecordKind::kExecStart, record);
}

void NoteBufferWork(TracerState& state, std::uint64_t work) {
  if (!InsideOp() || IsCollective(thread_state.frame->entry)) return;
  if (!state.works.Insert(work, RefOf(thread_state.frame->entry))) {
    CountDrop(state.region, abi::DropReason::kInternal);
  }
  ++thread_state.frame->works;
}

void NoteBufferDone(TracerState& state, std::uint64_t buffer) {
  const OpRef op = state.buffers.Lookup(buffer);
  if (op.op_id == 0) return;
  state.buffers.Remove(buffer);
  abi::EventRecord record = RecordOf(op, 0);
  Write(state, RecordKind::kExecEnd, record);
}

void NoteWorkGone(TracerState& state, std::uint64_t work) { state.works.Remove(work); }

void BeginExec(TracerState& state, std::uint64_t work, Frame* frame) {
  frame->entry = RecordOf(state.works.Lookup(work), work);
  Count(state, frame->entry.group_slot, &abi::GroupSlot::started);
  Link(frame, FrameType::kExec);
  Write(state, RecordKind::kExecStart, frame->entry);
}

void EndExec(TracerState& state, Frame* frame) {
  if (!IsForkedChild(state)) WriteExecEnd(state, frame);
  Unlink(frame);
}

void NoteExecDone(TracerState& state, bool failed) {
  Frame* frame = thread_state.frame;
  if (frame == nullptr || frame->type != FrameType::kExec) return;
  if (failed) frame->entry.flags |= abi::kFlagFailed;
  WriteExecEnd(state, frame);
}

bool BeginWait(TracerState& state, std::uint64_t work, Frame* frame) {
  const OpRef op = state.works.Lookup(work);
  if (op.op_id == 0) return false;
  frame->entry = RecordOf(op, work);
  Link(frame, FrameType::kWait);
  Write(state, RecordKind::kWaitStart, frame->entry);
  return true;
}

void BeginWaitAll(TracerState& state, Frame* frame) {
  frame->entry = RecordOf(thread_state.last_op, 0);
  frame->entry.flags = abi::kFlagWaitAll;
  Link(frame, FrameType::kWait);
  Write(state, RecordKind::kWaitStart, frame->entry);
}

void EndWait(TracerState& state, Frame* frame) {
  if (IsForkedChild(state)) return Unlink(frame);
  Write(state, RecordKind::kWaitEnd, frame->entry);
  Unlink(frame);
}

void FailFrame() {
  Frame* frame = thread_state.frame;
  TracerState* state = tracer_state.load(std::memory_order_acquire);
  if (frame == nullptr || state == nullptr) return;
  frame->entry.flags |= abi::kFlagFailed;
  if (frame->type == FrameType::kOp) {
    EndOp(*state, frame, 0);
  } else if (frame->type == FrameType::kExec) {
    EndExec(*state, frame);
  } else {
    EndWait(*state, frame);
  }
}

}  // namespace fathom::tracer
