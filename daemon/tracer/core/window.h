// Opens and closes a window of detail where the agent asked for it: at an op of a communicator.
//
// Called by op_recorder.cc at every entry of an op; the protocol is daemon/abi/detail_window.h.
// What is recorded in a window is the source's affair (daemon/tracer/cupti).
//
// Model: one load and one compare an op while nothing is asked. With a request that is not over,
// the thread that enters an op looks whether it is the one to open or to close at; one thread acts,
// the others go on. A process that enters no more ops never closes its window by itself: the agent
// sees that in window_state. Thread-safety: thread-safe. Errors: told in window_state. Cost: 1 ns
// an op without a request; opening and closing are cold (milliseconds).
#ifndef FATHOM_DAEMON_TRACER_CORE_WINDOW_H_
#define FATHOM_DAEMON_TRACER_CORE_WINDOW_H_

#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {

struct WindowCounts {
  std::uint64_t records = 0;
  std::uint32_t lost = 0;
};

// What records in a window. All are called by one thread at a time.
struct WindowSource {
  std::uint32_t sources;  // SourceBit it can record
  // Begins to record; kNone if it does.
  abi::WindowReason (*open)(const TracerState& state, std::uint32_t ticket);
  // Stops, with everything written.
  WindowCounts (*close)(const TracerState& state);
};

// The one source there is; null where it is not linked in (tests of the core).
[[gnu::weak]] const WindowSource* TheWindowSource();

void StepWindow(TracerState& state, std::uint16_t slot, std::uint64_t sequence);

// An op with `sequence` on the group in `slot` is being entered.
inline void NoteEntryForWindow(TracerState& state, std::uint16_t slot, std::uint64_t sequence) {
  const std::uint32_t ticket =
      state.region.control->window_request.ticket.load(std::memory_order_relaxed);
  if (ticket != state.window_done.load(std::memory_order_relaxed)) [[unlikely]]
    StepWindow(state, slot, sequence);
}

// Closes an open window before its time, for `reason`. Returns false if none is open.
bool CutWindowShort(TracerState& state, abi::WindowReason reason);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_WINDOW_H_
