// Switches sources off and on where the agent ordered it: at an op of a communicator.
//
// Called by op_recorder.cc at every entry of an op; the protocol is daemon/abi/source_switch.h.
//
// Model: one load and one compare an op while nothing is ordered. With an order that has not taken
// hold, the thread that enters an op looks whether it is the one. What began before a source was
// switched off is told to its end (marks, GPU ends), so nothing looks as if it never ended.
// Thread-safety: thread-safe. Errors: none. Cost: 1 ns an op without an order.
#ifndef FATHOM_DAEMON_TRACER_CORE_SOURCE_SWITCH_H_
#define FATHOM_DAEMON_TRACER_CORE_SOURCE_SWITCH_H_

#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {

void StepSwitch(TracerState& state, std::uint16_t slot, std::uint64_t sequence);

// An op with `sequence` on the group in `slot` is being entered.
inline void NoteEntryForSwitch(TracerState& state, std::uint16_t slot, std::uint64_t sequence) {
  const std::uint32_t ticket =
      state.region.control->switch_order.ticket.load(std::memory_order_relaxed);
  if (ticket != state.switched.load(std::memory_order_relaxed)) [[unlikely]]
    StepSwitch(state, slot, sequence);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_SOURCE_SWITCH_H_
