#include "daemon/tracer/nccl_plugin/transfers.h"

#include "daemon/tracer/core/ring/ring_writer.h"

namespace fathom::tracer::nccl_plugin {
namespace {

using Count = std::atomic<std::uint32_t>;

constinit std::atomic<std::uint32_t> next_slot{0};

bool InUse(std::uint32_t turn) { return (turn & 1) != 0; }

// Null where the transfer is no more.
abi::TransferSlot* SlotOf(const TracerState& state, Handle handle) {
  if (handle.place() >= abi::kTransferSlots) return nullptr;
  abi::TransferSlot* slot = &state.region.transfers[handle.place()];
  return slot->turn.load(std::memory_order_relaxed) == handle.generation() ? slot : nullptr;
}

bool Claim(abi::TransferSlot& slot) {
  std::uint32_t turn = slot.turn.load(std::memory_order_relaxed);
  return !InUse(turn) &&
         slot.turn.compare_exchange_strong(turn, turn + 1, std::memory_order_acq_rel);
}

void GiveBack(abi::TransferSlot& slot, std::uint32_t turn) {
  slot.op_id.store(0, std::memory_order_relaxed);
  slot.turn.compare_exchange_strong(turn, turn + 1, std::memory_order_acq_rel);
}

// One thread writes it: no locked instruction is needed.
void AddOne(Count& count) {
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Set(Count& count, std::uint32_t value) { count.store(value, std::memory_order_relaxed); }

std::uint32_t Get(const Count& count) { return count.load(std::memory_order_relaxed); }

void Fill(abi::TransferSlot& slot, const OpRef& op, const ProxyOpBody& proxy) {
  slot.peer = static_cast<std::uint32_t>(proxy.peer);
  slot.group_slot = op.group_slot;
  slot.channel = proxy.channel;
  slot.sends = proxy.sends != 0 ? 1 : 0;
  slot.steps = static_cast<std::uint32_t>(proxy.steps);
  for (Count* count : {&slot.posted, &slot.gpu, &slot.moved, &slot.done}) Set(*count, 0);
  slot.op_id.store(op.op_id, std::memory_order_release);
}

}  // namespace

Handle StartTransfer(const TracerState& state, const OpRef& op, const ProxyOpBody& proxy) {
  const std::uint32_t first = next_slot.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    const std::uint32_t place = (first + i) % abi::kTransferSlots;
    abi::TransferSlot& slot = state.region.transfers[place];
    if (!Claim(slot)) continue;
    Fill(slot, op, proxy);
    return Handle::OfTransfer(place, slot.turn.load(std::memory_order_relaxed));
  }
  CountDrop(state.region, abi::DropReason::kTransferTableFull);
  return {};
}

void NoteStep(const TracerState& state, Handle step, int what) {
  abi::TransferSlot* slot = SlotOf(state, step);
  if (slot == nullptr) return;
  switch (what) {
    case kStepSendGpuWait:
    case kStepRecvWait:
      return AddOne(slot->posted);
    case kStepSendPeerWait:  // told at each look until the network takes it
      return Set(slot->gpu, Get(slot->moved) + 1);
    case kStepSendWait:
      AddOne(slot->moved);
      return Set(slot->gpu, Get(slot->moved));
    case kStepRecvFlushWait:
      return AddOne(slot->moved);
    case kStepRecvGpuWait:
      return AddOne(slot->gpu);
    default:
      return;
  }
}

void EndStep(const TracerState& state, Handle step) {
  abi::TransferSlot* slot = SlotOf(state, step);
  if (slot != nullptr) AddOne(slot->done);
}

void NoteSteps(const TracerState& state, Handle transfer, int what, std::uint32_t steps) {
  abi::TransferSlot* slot = SlotOf(state, transfer);
  if (slot == nullptr) return;
  switch (what) {
    case kOpSendPosted:
      Set(slot->gpu, steps);
      return Set(slot->posted, steps);
    case kOpRecvPosted:
      return Set(slot->posted, steps);
    case kOpSendTransmitted:
    case kOpRecvReceived:
      return Set(slot->moved, steps);
    case kOpRecvTransmitted:
      return Set(slot->gpu, steps);
    case kOpSendDone:
    case kOpRecvDone:
      return Set(slot->done, steps);
    default:
      return;
  }
}

void EndTransfer(const TracerState& state, Handle transfer) {
  abi::TransferSlot* slot = SlotOf(state, transfer);
  if (slot != nullptr) GiveBack(*slot, transfer.generation());
}

void DropTransfers(const TracerState& state, std::uint16_t group_slot) {
  for (std::uint32_t place = 0; place < abi::kTransferSlots; ++place) {
    abi::TransferSlot& slot = state.region.transfers[place];
    const std::uint32_t turn = slot.turn.load(std::memory_order_acquire);
    if (InUse(turn) && slot.group_slot == group_slot) GiveBack(slot, turn);
  }
}

}  // namespace fathom::tracer::nccl_plugin
