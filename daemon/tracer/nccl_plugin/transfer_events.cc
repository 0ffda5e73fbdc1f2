#include "daemon/tracer/nccl_plugin/transfer_events.h"

#include <string.h>

#include "daemon/tracer/nccl_plugin/transfers.h"

namespace fathom::tracer::nccl_plugin {
namespace {

// For what only comes after a transfer was let begin, some millions of times a minute.
const TracerState* StateInStep() {
  const TracerState* state = tracer_state.load(std::memory_order_acquire);
  const bool on = state != nullptr && state->phase.load(std::memory_order_acquire) == Phase::kOn;
  return on ? state : nullptr;
}

}  // namespace

Handle StartTransferOf(const EventHead* event, const void* body) {
  const TracerState* state = ActiveState(abi::kSourceNcclTransfers, AfterFork::kIgnore);
  const Handle task = Handle::From(event->parent);
  ProxyOpBody proxy;
  memcpy(&proxy, body, sizeof(proxy));
  if (state == nullptr || task.tag() != HandleTag::kTask) return {};
  if (static_cast<std::uint32_t>(proxy.pid) != state->epoch) return {};
  if (proxy.peer < 0 || proxy.steps < 0) return {};
  const OpRef op = OpOfTask(task);
  if (op.op_id == 0) CountDrop(state->region, abi::DropReason::kPluginUnmatched);
  if (op.op_id == 0 || op.group_slot >= abi::kGroupSlots) return {};
  // Equal pids of two containers.
  const std::uint32_t my_rank = state->region.groups[op.group_slot].my_rank;
  if (my_rank != static_cast<std::uint32_t>(event->rank)) return {};
  return StartTransfer(*state, op, proxy);
}

void StopOfTransfer(Handle handle) {
  const TracerState* state = StateInStep();
  if (state == nullptr) return;
  if (handle.tag() == HandleTag::kStep) {
    EndStep(*state, handle);
  } else {
    EndTransfer(*state, handle);
  }
}

void RecordOfTransfer(Handle handle, int what, const StateArguments* arguments) {
  const TracerState* state = StateInStep();
  if (state == nullptr) return;
  if (handle.tag() == HandleTag::kStep) {
    NoteStep(*state, handle, what);
  } else if (what <= kOpRecvDone && arguments != nullptr) {  // version 3
    NoteSteps(*state, handle, what, static_cast<std::uint32_t>(arguments->proxy_op.steps));
  }
}

}  // namespace fathom::tracer::nccl_plugin
