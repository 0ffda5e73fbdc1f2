#include "daemon/tracer/core/graph_ops.h"

#include <atomic>

#include "daemon/tracer/core/table/handle_table.h"

namespace fathom::tracer {
namespace {

// What is entered at each launch. Without default values: the table is zero, and takes no room in
// the library.
struct Entry {
  CollectiveKind kind;
  DataType data_type;
  bool bytes_known;
  std::uint8_t reduction;
  std::uint16_t group_slot;
  std::uint32_t peer;
  std::uint64_t bytes;
  std::uint64_t stream;

  OpCall call() const {
    return {.kind = kind,
            .data_type = data_type,
            .bytes_known = bytes_known,
            .peer = peer,
            .bytes = bytes};
  }
  OpRef Ref(std::uint64_t op_id) const {
    return {op_id, group_slot, static_cast<std::uint8_t>(kind)};
  }
};

// A captured op. Places are counted from 1 on; 0 ends a list.
struct Op {
  std::atomic<std::uint32_t> epoch;  // of the activation it belongs to; 0: free
  std::atomic<std::uint32_t> generation;
  std::atomic<std::uint32_t> next;     // of the same graph
  std::atomic<std::uint32_t> holders;  // of the first of a graph: the graph and what was made of it
  std::atomic<std::uint32_t> launched;
  std::atomic<std::uint32_t> replayed;
  std::atomic<bool> has_events;
  std::atomic<bool> dropped;
  Entry entry;
  std::atomic<std::uint64_t> op_ids[kAhead];  // by number of the launch; 0: no end is promised
};

struct Capture {
  std::atomic<std::uint64_t> id;  // 0: free
  std::atomic<std::uint32_t> epoch;
  std::atomic<std::uint32_t> first;
  std::atomic<std::uint32_t> last;
  std::atomic<bool> incomplete;
};

constinit Op ops[kGraphOps + 1];
constinit Capture captures[kCaptures];
constinit std::atomic<std::uint32_t> hint{1};
constinit HandleTable graphs;
constinit HandleTable executables;

Op& At(std::uint32_t place) { return ops[place]; }

void Forget(std::uint32_t place) {
  while (place != 0) {
    Op& op = At(place);
    place = op.next.load(std::memory_order_relaxed);
    op.generation.fetch_add(1, std::memory_order_relaxed);
    op.epoch.store(0, std::memory_order_release);
  }
}

bool IsOwn(const TracerState& state, std::uint32_t first) {
  return first != 0 && At(first).epoch.load(std::memory_order_acquire) == state.epoch;
}

void Release(const TracerState& state, std::uint32_t first) {
  if (!IsOwn(state, first)) return;
  if (At(first).holders.fetch_sub(1, std::memory_order_acq_rel) == 1) Forget(first);
}

// Ops of a forked child's parent are not its own.
bool Claim(Op& op, std::uint32_t epoch) {
  std::uint32_t seen = op.epoch.load(std::memory_order_relaxed);
  if (seen == epoch) return false;
  return op.epoch.compare_exchange_strong(seen, epoch, std::memory_order_acq_rel);
}

std::uint32_t FreePlace(std::uint32_t epoch) {
  const std::uint32_t from = hint.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kGraphOps; ++i) {
    const auto place = static_cast<std::uint32_t>((from - 1 + i) % kGraphOps + 1);
    if (!Claim(At(place), epoch)) continue;
    hint.store(static_cast<std::uint32_t>(place % kGraphOps + 1), std::memory_order_relaxed);
    return place;
  }
  return 0;
}

void Fill(Op& op, const OpCall& call, const DeviceOp& device) {
  op.next.store(0, std::memory_order_relaxed);
  op.holders.store(0, std::memory_order_relaxed);
  op.launched.store(0, std::memory_order_relaxed);
  op.replayed.store(0, std::memory_order_relaxed);
  op.has_events.store(false, std::memory_order_relaxed);
  op.dropped.store(false, std::memory_order_relaxed);
  op.entry = {call.kind,         call.data_type, call.bytes_known, device.reduction,
              device.group_slot, call.peer,      call.bytes,       device.stream};
  for (std::atomic<std::uint64_t>& op_id : op.op_ids) op_id.store(0, std::memory_order_relaxed);
}

Capture* CaptureOf(std::uint64_t id, std::uint32_t epoch) {
  for (Capture& capture : captures) {
    if (capture.id.load(std::memory_order_acquire) == id &&
        capture.epoch.load(std::memory_order_relaxed) == epoch) {
      return &capture;
    }
  }
  return nullptr;
}

// Two threads that add the first ops of one capture at once may make it twice: the second half is
// then in no graph. Frameworks begin a capture on one thread.
Capture* BeginCapture(std::uint64_t id, std::uint32_t epoch) {
  for (Capture& capture : captures) {
    std::uint64_t seen = capture.id.load(std::memory_order_relaxed);
    const bool left_over = capture.epoch.load(std::memory_order_relaxed) != epoch;
    if ((seen != 0 && !left_over) ||
        !capture.id.compare_exchange_strong(seen, id, std::memory_order_acq_rel)) {
      continue;
    }
    capture.first.store(0, std::memory_order_relaxed);
    capture.last.store(0, std::memory_order_relaxed);
    capture.incomplete.store(false, std::memory_order_relaxed);
    capture.epoch.store(epoch, std::memory_order_release);
    return &capture;
  }
  return nullptr;
}

void Append(Capture& capture, std::uint32_t place) {
  const std::uint32_t before = capture.last.exchange(place, std::memory_order_acq_rel);
  std::atomic<std::uint32_t>& link = before == 0 ? capture.first : At(before).next;
  link.store(place, std::memory_order_release);
}

std::uint32_t LastOf(std::uint32_t place) {
  while (const std::uint32_t next = At(place).next.load(std::memory_order_relaxed)) place = next;
  return place;
}

// A capture may go on with a graph that has ops already.
bool Keep(const TracerState& state, std::uint64_t graph, std::uint32_t first) {
  if (const std::uint32_t before = graphs.Lookup(graph); IsOwn(state, before)) {
    At(LastOf(before)).next.store(first, std::memory_order_release);
    return true;
  }
  At(first).holders.store(1, std::memory_order_relaxed);
  return graphs.Insert(graph, first);
}

bool IsLive(const TracerState& state, const Op& op) {
  const std::uint16_t slot = op.entry.group_slot;
  return !op.dropped.load(std::memory_order_relaxed) && slot < abi::kGroupSlots &&
         state.group_address[slot].load(std::memory_order_relaxed) != 0;
}

void Enter(TracerState& state, Op& op) {
  const std::uint32_t number = op.launched.load(std::memory_order_relaxed);
  const std::uint32_t ahead = number - op.replayed.load(std::memory_order_acquire);
  const DeviceOp device = {
      .group_slot = op.entry.group_slot,
      .stream = op.entry.stream,
      .reduction = op.entry.reduction,
      .end_follows = op.has_events.load(std::memory_order_relaxed) && ahead < kAhead};
  Frame frame;
  BeginDeviceOp(state, op.entry.call(), device, &frame);
  if (device.end_follows) {
    op.op_ids[number % kAhead].store(frame.entry.op_id, std::memory_order_release);
  }
  op.launched.store(number + 1, std::memory_order_release);
  EndDeviceOp(state, &frame, false);
}

}  // namespace

CapturedOp AddCapturedOp(const TracerState& state, std::uint64_t id, const OpCall& call,
                         const DeviceOp& device) {
  Capture* capture = CaptureOf(id, state.epoch);
  if (capture == nullptr) capture = BeginCapture(id, state.epoch);
  const std::uint32_t place = capture == nullptr ? 0 : FreePlace(state.epoch);
  if (place == 0) {
    if (capture != nullptr) capture->incomplete.store(true, std::memory_order_relaxed);
    CountDrop(state.region, abi::DropReason::kGraphTableFull);
    return {};
  }
  Fill(At(place), call, device);
  Append(*capture, place);
  return {place, At(place).generation.load(std::memory_order_relaxed)};
}

void DropCapturedOp(CapturedOp op) {
  if (op.place != 0) At(op.place).dropped.store(true, std::memory_order_relaxed);
}

void EndCapture(const TracerState& state, std::uint64_t id, std::uint64_t graph) {
  Capture* capture = CaptureOf(id, state.epoch);
  if (capture == nullptr) return;
  const std::uint32_t first = capture->first.load(std::memory_order_acquire);
  const bool whole = graph != 0 && !capture->incomplete.load(std::memory_order_relaxed);
  capture->id.store(0, std::memory_order_release);
  if (first == 0) return;
  if (!whole) return Forget(first);
  if (Keep(state, graph, first)) return;
  CountDrop(state.region, abi::DropReason::kGraphTableFull);
  Forget(first);
}

void InstantiateGraph(const TracerState& state, std::uint64_t executable, std::uint64_t graph) {
  const std::uint32_t first = graphs.Lookup(graph);
  ForgetExecutable(state, executable);
  if (!IsOwn(state, first)) return;
  At(first).holders.fetch_add(1, std::memory_order_acq_rel);
  if (executables.Insert(executable, first)) return;
  CountDrop(state.region, abi::DropReason::kGraphTableFull);
  Release(state, first);
}

void ForgetGraph(const TracerState& state, std::uint64_t graph) {
  Release(state, graphs.Remove(graph));
}
void ForgetExecutable(const TracerState& state, std::uint64_t executable) {
  Release(state, executables.Remove(executable));
}

void LaunchGraph(TracerState& state, std::uint64_t executable) {
  std::uint32_t place = executables.Lookup(executable);
  if (!IsOwn(state, place)) return;
  for (; place != 0; place = At(place).next.load(std::memory_order_acquire)) {
    if (IsLive(state, At(place))) Enter(state, At(place));
  }
}

void NoteLaunchFailed(const TracerState& state, std::uint64_t executable) {
  std::uint32_t place = executables.Lookup(executable);
  if (!IsOwn(state, place)) return;
  for (; place != 0; place = At(place).next.load(std::memory_order_acquire)) {
    Op& op = At(place);
    if (!IsLive(state, op)) continue;
    const std::uint32_t number = op.launched.load(std::memory_order_relaxed) - 1;
    op.launched.store(number, std::memory_order_relaxed);
    const std::uint64_t op_id = op.op_ids[number % kAhead].exchange(0, std::memory_order_relaxed);
    if (op_id != 0) NoteNeverRuns(state, op.entry.Ref(op_id));
  }
}

OpRef TakeReplay(CapturedOp captured) {
  if (captured.place == 0 || captured.place > kGraphOps) return {};
  Op& op = At(captured.place);
  if (op.generation.load(std::memory_order_relaxed) != captured.generation) return {};
  op.has_events.store(true, std::memory_order_relaxed);
  const std::uint32_t number = op.replayed.load(std::memory_order_relaxed);
  if (number == op.launched.load(std::memory_order_acquire)) return {};  // not launched by us
  const std::uint64_t op_id = op.op_ids[number % kAhead].exchange(0, std::memory_order_acq_rel);
  op.replayed.store(number + 1, std::memory_order_release);
  return op.entry.Ref(op_id);
}

}  // namespace fathom::tracer
