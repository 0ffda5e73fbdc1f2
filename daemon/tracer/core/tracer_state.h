// All that the tracer knows in a process: its phase, its region, and the tables of live objects.
//
// One anonymous mapping, made at activation, that the kernel empties in a forked child
// (MADV_WIPEONFORK): the child finds phase kIdle, so it neither writes into its parent's ring nor
// trusts its tables, even if it was made without the C library's fork. It may activate afresh.
//
// Model: phase goes kIdle → kActivating → kOn or kOff. Hooks do nothing unless it is kOn.
// Thread-safety: thread-safe; words are atomic, `region` and `path` are written before kOn
// (release) and never again. Ownership: lives until the process ends. Cost: hot path, three loads.
#ifndef FATHOM_DAEMON_TRACER_CORE_TRACER_STATE_H_
#define FATHOM_DAEMON_TRACER_CORE_TRACER_STATE_H_

#include <atomic>
#include <cstdint>

#include "daemon/abi/ring_layout.h"
#include "daemon/tracer/core/ring/region.h"
#include "daemon/tracer/core/table/address_table.h"
#include "daemon/tracer/core/thread_state.h"
#include "proto/types/flop_class.h"

namespace fathom::tracer {

enum class Phase : std::uint32_t { kIdle = 0, kActivating = 1, kOn = 2, kOff = 3 };

struct TracerState {
  std::atomic<Phase> phase;
  std::uint32_t epoch;    // pid of the activation
  std::uint32_t sources;  // SourceBit the settings allow
  Region region;
  char path[kRegionPathBytes];
  std::atomic<std::uint64_t> group_address[abi::kGroupSlots];  // 0: no live group in the slot
  std::atomic<std::uint64_t> next_sequence[abi::kGroupSlots];
  std::atomic<std::uint32_t> window_done;    // ticket of the newest window that is over
  std::atomic<std::uint32_t> window_ticket;  // ticket of the one that is waiting or open
  std::atomic<bool> window_open;
  std::atomic<bool> window_busy;        // a thread is opening or closing it
  std::atomic<std::uint32_t> switched;  // ticket of the newest SwitchOrder that took hold
  // FLOP of products that no record has told yet, by FlopClass; of the CPU, and put on GPUs.
  mutable std::atomic<std::uint64_t> host_flop[kFlopClasses];
  mutable std::atomic<std::uint64_t> device_flop[kFlopClasses];
  AddressTable works;
  AddressTable buffers;
};

extern std::atomic<TracerState*> tracer_state;  // null before the first activation

// Counts an event of a forked child against the parent's kAfterFork, where there is a parent.
void CountAfterFork();

// Fills in this thread's state for `state`.
void AttachThread(const TracerState& state);

// What becomes of an event of a forked child: communication that is not seen counts as dropped, a
// mark does not (a data-loader worker collects garbage too, and nobody asked).
enum class AfterFork { kCount, kIgnore };

// The state if the tracer is on, whatever the agent disabled since: for what must stay in step.
inline TracerState* OnState(AfterFork after_fork = AfterFork::kCount) {
  TracerState* state = tracer_state.load(std::memory_order_acquire);
  if (state == nullptr) return nullptr;
  if (state->phase.load(std::memory_order_acquire) != Phase::kOn) [[unlikely]] {
    if (after_fork == AfterFork::kCount) CountAfterFork();
    return nullptr;
  }
  if (thread_state.epoch != state->epoch) [[unlikely]]
    AttachThread(*state);
  return state;
}

// The state if the settings allow `source`, whatever was switched off since: for what ends that
// began while it was on.
inline TracerState* AllowedState(abi::SourceBit source, AfterFork after_fork) {
  TracerState* state = OnState(after_fork);
  return state != nullptr && (state->sources & source) != 0 ? state : nullptr;
}

// The state if `source` is on and this thread is known to it; null also where ActiveState would
// have something to do first. So a shim that asks it calls nothing, and need not keep its
// arguments.
inline TracerState* ReadyState(abi::SourceBit source) {
  TracerState* state = tracer_state.load(std::memory_order_acquire);
  if (state == nullptr || state->phase.load(std::memory_order_acquire) != Phase::kOn)
    return nullptr;
  if (thread_state.epoch != state->epoch) return nullptr;
  const std::uint32_t disabled =
      state->region.control->sources_disabled.load(std::memory_order_relaxed);
  return (state->sources & ~disabled & source) != 0 ? state : nullptr;
}

// The state if `source` is on here and now, else null.
inline TracerState* ActiveState(abi::SourceBit source, AfterFork after_fork = AfterFork::kCount) {
  TracerState* state = OnState(after_fork);
  if (state == nullptr) return nullptr;
  const std::uint32_t disabled =
      state->region.control->sources_disabled.load(std::memory_order_relaxed);
  return (state->sources & ~disabled & source) != 0 ? state : nullptr;
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_TRACER_STATE_H_
