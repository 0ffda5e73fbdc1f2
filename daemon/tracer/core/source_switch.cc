#include "daemon/tracer/core/source_switch.h"

namespace fathom::tracer {

void StepSwitch(TracerState& state, std::uint16_t slot, std::uint64_t sequence) {
  abi::ControlBlock& control = *state.region.control;
  const abi::SwitchOrder& order = control.switch_order;
  const std::uint32_t ticket = order.ticket.load(std::memory_order_acquire);
  const std::uint32_t group_slot = order.group_slot.load(std::memory_order_relaxed);
  const std::uint64_t at_sequence = order.at_sequence.load(std::memory_order_relaxed);
  const std::uint32_t disabled = order.sources_disabled.load(std::memory_order_relaxed);
  const std::uint32_t mask = order.plugin_mask.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  // One that is being written: the next op will see it whole.
  if (ticket == 0 || order.ticket.load(std::memory_order_relaxed) != ticket) return;
  if (slot != group_slot || sequence == abi::kNoSequence64 || sequence < at_sequence) return;
  if (state.switched.exchange(ticket, std::memory_order_relaxed) == ticket) return;
  control.sources_disabled.store(disabled & abi::kSwitchableSources, std::memory_order_relaxed);
  control.plugin_mask.store(mask, std::memory_order_relaxed);
  control.switch_state.at_sequence.store(sequence, std::memory_order_relaxed);
  control.switch_state.ticket.store(ticket, std::memory_order_release);
}

}  // namespace fathom::tracer
