#include "daemon/tracer/core/op_recorder.h"

#include "daemon/tracer/core/device_calls.h"
#include "daemon/tracer/core/group_table.h"
#include "daemon/tracer/core/source_switch.h"
#include "daemon/tracer/core/window.h"

namespace fathom::tracer {
namespace {

using abi::RecordKind;

// A call that takes longer, some 15 to 50 us, does more than put work on a stream.
constexpr std::uint64_t kLongLaunchTicks = 50'000;
// One that takes longer, some 50 to 200 us, does more than make a work and wake a worker for it,
// which takes 10 to 70 us on busy cores.
constexpr std::uint64_t kLongCallTicks = 200'000;

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

// One copy for all that is not an entry: what is small stays in the cache.
[[gnu::noinline]] void Write(const TracerState& state, RecordKind kind, const PackedRecord& entry) {
  PackedRecord record = entry;
  record.time_ns = NowNs();
  record.set_kind(kind);
  AppendRecord(state.region, record);
}

void Count(const TracerState& state, std::uint16_t slot,
           std::atomic<std::uint64_t> abi::GroupSlot::*word) {
  if (slot < abi::kGroupSlots) {
    (state.region.groups[slot].*word).fetch_add(1, std::memory_order_relaxed);
  }
}

// For words that only the caller of a communicator changes: its calls are serialised by the host.
void AddOne(std::atomic<std::uint64_t>& word) {
  word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool IsCollective(const PackedRecord& record) {
  return !IsPointToPoint(static_cast<CollectiveKind>(record.collective_kind()));
}

// Every field but time and kind, without flags.
PackedRecord RecordOf(const OpRef& op, std::uint64_t extra) {
  PackedRecord record;
  record.time_ns = 0;
  record.what = PackedRecord::What(RecordKind::kNone, op.kind) | thread_state.thread_id;
  record.where = PackedRecord::Where(op.group_slot, abi::kNoPeer);
  record.op_id = op.op_id;
  record.sequence = abi::kNoSequence64;
  record.bytes = 0;
  record.extra = extra;
  return record;
}

OpRef RefOf(const PackedRecord& record) {
  return {record.op_id, record.group_slot(), record.collective_kind()};
}

void WriteExecEnd(const TracerState& state, Frame* frame) {
  if (frame->ended) return;
  frame->ended = true;
  Count(state, frame->entry.group_slot(), &abi::GroupSlot::completed);
  Write(state, RecordKind::kExecEnd, frame->entry);
}

// An op that is done when its call returns has had no worker: it counts as started and completed.
void CountDoneAtReturn(const TracerState& state, const Frame& frame) {
  if (!IsCollective(frame.entry) || frame.works != 0) return;
  Count(state, frame.entry.group_slot(), &abi::GroupSlot::started);
  Count(state, frame.entry.group_slot(), &abi::GroupSlot::completed);
}

// The same of an op on a GPU.
void CountDoneOnDevice(const TracerState& state, const Frame& frame) {
  const std::uint16_t slot = frame.entry.group_slot();
  if (slot >= abi::kGroupSlots) return;
  if (frame.alone) {
    AddOne(state.region.groups[slot].started);
    AddOne(state.region.groups[slot].completed);
    return;
  }
  Count(state, slot, &abi::GroupSlot::started);
  Count(state, slot, &abi::GroupSlot::completed);
}

// What the thread computed up to a wait is told before it, not with the next op.
void FlushBeforeWait(const TracerState& state) {
  if (thread_state.device.calls != 0) WriteDeviceCallsNow(state);
}

// What is captured does not run: it has no number, and one rank may capture what others have.
void TakeBackEntry(const TracerState& state, PackedRecord* record) {
  record->sequence = abi::kNoSequence64;
  const std::uint16_t slot = record->group_slot();
  if (slot >= abi::kGroupSlots) return;
  std::atomic<std::uint64_t>& entered = state.region.groups[slot].entered;
  entered.store(entered.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

// An op's first record; its op_id is its ticket + 1. It counts as entered. The record is put
// together in registers, and only then stored, in the ring and in the frame.
[[gnu::always_inline]] inline void WriteEntry(TracerState& state, const PackedCall& call,
                                              const DeviceOp& device, Frame* frame) {
  constexpr std::uint64_t kLow = 0xffffffff;
  const std::uint16_t slot = device.group_slot;
  PackedRecord record;
  record.what = (call.what & ~kLow) | thread_state.thread_id;
  record.where = PackedRecord::Where(slot, call.what & kLow, device.reduction);
  record.bytes = call.bytes;
  record.extra = device.stream;
  record.sequence = abi::kNoSequence64;
  const bool collective = IsCollective(record);
  if (collective && slot < abi::kGroupSlots) {
    record.sequence = state.next_sequence[slot].load(std::memory_order_relaxed);
    AddOne(state.region.groups[slot].entered);
  }
  NoteEntryForWindow(state, slot, record.sequence);
  NoteEntryForSwitch(state, slot, record.sequence);
  Link(frame, FrameType::kOp);
  const Moment now = Now();
  FlushDeviceCalls(state, now.ns);
  record.time_ns = now.ns;
  const std::uint64_t ticket = TakeTicket(state.region);
  record.op_id = ticket + 1;
  FillSlot(state.region, ticket, record);
  frame->entry = record;
  frame->ticks = now.ticks;
  state.region.control->heartbeat_ns.store(static_cast<std::uint64_t>(now.ns),
                                           std::memory_order_relaxed);
  thread_state.group_hint = slot;
  if (collective) thread_state.last_op = RefOf(record);
}

// A work that the table has no room for is known by its address alone, which the return tells.
void InsertWork(TracerState& state, Frame* frame, std::uint64_t work) {
  if (state.works.Insert(work, RefOf(frame->entry))) [[likely]]
    return;
  CountDrop(state.region, abi::DropReason::kInternal);
  frame->news = true;
}

// What its entry and its works do not tell of an op.
[[gnu::noinline]] void WriteReturn(TracerState& state, Frame* frame, std::uint64_t work) {
  PackedRecord& record = frame->entry;
  if (work != 0) {
    record.add_flags(abi::kFlagAsync);
    // Where the constructor of the work could not be hooked, its address is first known here.
    if (frame->works == 0) state.works.Insert(work, RefOf(record));
  } else {
    CountDoneAtReturn(state, *frame);
  }
  if (!frame->saw_tag && IsCollective(record)) {
    record.add_flags(abi::kFlagSequenceGuess);
    const bool took_one = (record.flags() & abi::kFlagFailed) == 0;
    if (took_one && record.group_slot() < abi::kGroupSlots) {
      state.next_sequence[record.group_slot()].fetch_add(1, std::memory_order_relaxed);
    }
  }
  record.extra = work;
  Write(state, RecordKind::kOpReturn, record);
}

}  // namespace

[[gnu::noinline]] bool FrameStands() {
  if (reinterpret_cast<void*>(thread_state.frame) > __builtin_frame_address(0)) return true;
  thread_state.frame = nullptr;
  return false;
}

void BeginPackedOp(TracerState& state, std::uint64_t group, PackedCall call, Frame* frame) {
  const DeviceOp none = {.group_slot = FindGroup(state, group, thread_state.group_hint)};
  WriteEntry(state, call, none, frame);
}

void BeginDeviceOp(TracerState& state, const OpCall& op, const DeviceOp& device, Frame* frame) {
  PackedCall call = Packed(op);
  const std::uint8_t flags = abi::kFlagDevice | (device.end_follows ? abi::kFlagAsync : 0);
  call.what |= PackedRecord::What(RecordKind::kNone, 0, 0, flags);
  frame->end_told = device.end_follows;
  WriteEntry(state, call, device, frame);
}

void EndDeviceOp(TracerState& state, Frame* frame, bool failed) {
  if (IsForkedChild(state)) return Unlink(frame);
  PackedRecord& record = frame->entry;
  if (failed) record.add_flags(abi::kFlagFailed);
  const bool captured = (record.flags() & abi::kFlagCaptured) != 0;
  const bool end_follows = (record.flags() & abi::kFlagAsync) != 0 && !captured && !failed;
  if (IsCollective(record) && captured) {
    TakeBackEntry(state, &record);
  } else if (IsCollective(record)) {
    if (!end_follows || frame->ended) CountDoneOnDevice(state, *frame);
    record.add_flags(abi::kFlagSequenceGuess);
    if (!failed && record.group_slot() < abi::kGroupSlots) {
      AddOne(state.next_sequence[record.group_slot()]);
    }
  }
  const bool news = failed || captured || end_follows != frame->end_told;
  if (news || CpuTicks() - frame->ticks > kLongLaunchTicks) [[unlikely]] {
    Write(state, RecordKind::kOpReturn, record);
  }
  Unlink(frame);
}

void NoteCaptured() {
  if (InsideOp()) thread_state.frame->entry.add_flags(abi::kFlagCaptured);
}

void NoteEndFollows() {
  if (InsideOp()) thread_state.frame->entry.add_flags(abi::kFlagAsync);
}

void NoteNeverRuns(const TracerState& state, const OpRef& op) {
  PackedRecord record = RecordOf(op, 0);
  record.add_flags(abi::kFlagDevice | abi::kFlagFailed);
  if (IsCollective(record)) {
    Count(state, op.group_slot, &abi::GroupSlot::started);
    Count(state, op.group_slot, &abi::GroupSlot::completed);
  }
  Write(state, RecordKind::kOpReturn, record);
}

void NoteGpuStart(const TracerState& state, const OpRef& op, std::uint64_t gpu_ns) {
  PackedRecord record = RecordOf(op, gpu_ns);
  record.add_flags(abi::kFlagDevice);
  if (IsCollective(record)) Count(state, op.group_slot, &abi::GroupSlot::started);
  Write(state, RecordKind::kGpuStart, record);
}

void NoteGpuEnd(const TracerState& state, const OpRef& op, std::uint64_t gpu_start_ns,
                std::uint64_t gpu_end_ns, bool first) {
  PackedRecord record = RecordOf(op, gpu_end_ns);
  record.add_flags(abi::kFlagDevice);
  record.bytes = gpu_start_ns;
  if (first && IsCollective(record)) Count(state, op.group_slot, &abi::GroupSlot::completed);
  Write(state, RecordKind::kGpuEnd, record);
}

void EndOp(TracerState& state, Frame* frame, std::uint64_t work) {
  if (IsForkedChild(state)) return Unlink(frame);
  const bool known = work != 0 && frame->works != 0 && !frame->news &&
                     (frame->saw_tag || !IsCollective(frame->entry));
  if (!known || CpuTicks() - frame->ticks > kLongCallTicks) [[unlikely]] {
    WriteReturn(state, frame, work);
  }
  Unlink(frame);
}

void NoteSequence(TracerState& state, std::uint64_t group, std::uint64_t sequence) {
  const std::uint16_t slot = FindGroup(state, group, thread_state.group_hint);
  if (slot >= abi::kGroupSlots) return;
  state.next_sequence[slot].store(sequence + 1, std::memory_order_relaxed);
  Frame* frame = thread_state.frame;
  if (!InsideOp() || frame->saw_tag || frame->entry.group_slot() != slot) return;
  frame->saw_tag = true;
  if (frame->entry.sequence == sequence) [[likely]]
    return;
  CountDrop(state.region, abi::DropReason::kSequenceMismatch);
  frame->entry.sequence = sequence;
  frame->news = true;
}

void NoteWork(TracerState& state, std::uint64_t work) {
  Frame* frame = thread_state.frame;
  InsertWork(state, frame, work);
  // A collective carried out in several works counts once for each, so that in flight stays
  // entered − completed.
  const std::uint16_t slot = frame->entry.group_slot();
  if (frame->works++ > 0 && slot < abi::kGroupSlots) AddOne(state.region.groups[slot].entered);
}

void NoteBuffer(TracerState& state, std::uint64_t buffer) {
  if (!InsideOp() || IsCollective(thread_state.frame->entry)) {
    state.buffers.Remove(buffer);  // the address may be that of a buffer that never completed
    return;
  }
  const OpRef op = RefOf(thread_state.frame->entry);
  if (!state.buffers.Insert(buffer, op)) CountDrop(state.region, abi::DropReason::kInternal);
  PackedRecord record = RecordOf(op, 0);
  Write(state, RecordKind::kExecStart, record);
}

void NoteBufferWork(TracerState& state, std::uint64_t work) {
  if (!InsideOp() || IsCollective(thread_state.frame->entry)) return;
  InsertWork(state, thread_state.frame, work);
  ++thread_state.frame->works;
}

void NoteBufferDone(TracerState& state, std::uint64_t buffer) {
  const OpRef op = state.buffers.Lookup(buffer);
  if (op.op_id == 0) return;
  state.buffers.Remove(buffer);
  PackedRecord record = RecordOf(op, 0);
  Write(state, RecordKind::kExecEnd, record);
}

void NoteWorkGone(TracerState& state, std::uint64_t work) { state.works.Remove(work); }

void BeginExec(TracerState& state, std::uint64_t work, Frame* frame) {
  const OpRef op = state.works.Lookup(work);
  frame->entry = RecordOf(op, work);
  Count(state, op.group_slot, &abi::GroupSlot::started);
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
  if (failed) frame->entry.add_flags(abi::kFlagFailed);
  WriteExecEnd(state, frame);
}

bool BeginWait(TracerState& state, std::uint64_t work, Frame* frame) {
  const OpRef op = state.works.Lookup(work);
  if (op.op_id == 0) return false;
  frame->entry = RecordOf(op, work);
  Link(frame, FrameType::kWait);
  FlushBeforeWait(state);
  Write(state, RecordKind::kWaitStart, frame->entry);
  return true;
}

void BeginWaitAll(TracerState& state, Frame* frame) {
  frame->entry = RecordOf(thread_state.last_op, 0);
  frame->entry.add_flags(abi::kFlagWaitAll);
  Link(frame, FrameType::kWait);
  FlushBeforeWait(state);
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
  frame->entry.add_flags(abi::kFlagFailed);
  if (frame->type == FrameType::kOp && (frame->entry.flags() & abi::kFlagDevice) != 0) {
    EndDeviceOp(*state, frame, true);
  } else if (frame->type == FrameType::kOp) {
    EndOp(*state, frame, 0);
  } else if (frame->type == FrameType::kExec) {
    EndExec(*state, frame);
  } else {
    EndWait(*state, frame);
  }
}

}  // namespace fathom::tracer
