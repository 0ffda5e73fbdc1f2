#include "daemon/tracer/core/window.h"

#include <errno.h>
#include <sched.h>

#include "daemon/tracer/core/host/clock.h"
#include "daemon/tracer/core/host/uncancelled.h"

namespace fathom::tracer {
namespace {

using abi::WindowPhase;
using abi::WindowReason;

struct Wish {
  std::uint32_t ticket;
  std::uint32_t group_slot;
  std::uint64_t open_sequence;
  std::uint64_t close_sequence;
  std::int64_t deadline_ns;
  std::uint32_t sources;
};

// False if the agent is writing a newer request: the next op will see it whole.
bool ReadWish(const abi::WindowRequest& request, Wish* wish) {
  wish->ticket = request.ticket.load(std::memory_order_acquire);
  wish->group_slot = request.group_slot.load(std::memory_order_relaxed);
  wish->open_sequence = request.open_sequence.load(std::memory_order_relaxed);
  wish->close_sequence = request.close_sequence.load(std::memory_order_relaxed);
  wish->deadline_ns = request.deadline_ns.load(std::memory_order_relaxed);
  wish->sources = request.sources.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return request.ticket.load(std::memory_order_relaxed) == wish->ticket;
}

void Tell(abi::WindowState& told, WindowPhase phase) {
  told.phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
}

void Finish(TracerState& state, WindowPhase phase, WindowReason reason) {
  abi::WindowState& told = state.region.control->window_state;
  told.reason.store(static_cast<std::uint32_t>(reason), std::memory_order_relaxed);
  state.window_open.store(false, std::memory_order_relaxed);
  state.window_done.store(state.window_ticket.load(std::memory_order_relaxed),
                          std::memory_order_release);
  Tell(told, phase);
}

void Close(TracerState& state, std::uint64_t sequence, WindowReason reason) {
  abi::WindowState& told = state.region.control->window_state;
  const WindowCounts counts = TheWindowSource()->close(state);
  told.closed_sequence.store(sequence, std::memory_order_relaxed);
  told.closed_ns.store(MonotonicNs(), std::memory_order_relaxed);
  told.records.store(counts.records, std::memory_order_relaxed);
  told.lost.store(counts.lost, std::memory_order_relaxed);
  Finish(state, WindowPhase::kClosed, reason);
}

void Open(TracerState& state, const Wish& wish, std::uint64_t sequence) {
  abi::WindowState& told = state.region.control->window_state;
  const WindowSource* source = TheWindowSource != nullptr ? TheWindowSource() : nullptr;
  const std::uint32_t off = state.region.control->sources_disabled.load(std::memory_order_relaxed);
  if (source == nullptr || (source->sources & wish.sources & state.sources & ~off) == 0) {
    return Finish(state, WindowPhase::kRefused, WindowReason::kNoSource);
  }
  const WindowReason reason = source->open(state, wish.ticket);
  if (reason != WindowReason::kNone) return Finish(state, WindowPhase::kRefused, reason);
  told.opened_sequence.store(sequence, std::memory_order_relaxed);
  told.opened_ns.store(MonotonicNs(), std::memory_order_relaxed);
  state.window_open.store(true, std::memory_order_relaxed);
  Tell(told, WindowPhase::kOpen);
}

// A request that was not there before. An open window that it replaces is closed.
void Begin(TracerState& state, const Wish& wish) {
  if (state.window_open.load(std::memory_order_relaxed)) {
    Close(state, abi::kNoSequence64, WindowReason::kNone);
  }
  abi::WindowState& told = state.region.control->window_state;
  state.window_ticket.store(wish.ticket, std::memory_order_relaxed);
  Tell(told, WindowPhase::kWaiting);
  told.opened_ns.store(0, std::memory_order_relaxed);
  told.closed_ns.store(0, std::memory_order_relaxed);
  told.records.store(0, std::memory_order_relaxed);
  told.lost.store(0, std::memory_order_relaxed);
  told.reason.store(0, std::memory_order_relaxed);
  // Last: who sees the new ticket no longer sees the old window's phase.
  told.ticket.store(wish.ticket, std::memory_order_release);
}

void Step(TracerState& state, const Wish& wish, std::uint16_t slot, std::uint64_t sequence) {
  if (wish.ticket == state.window_done.load(std::memory_order_acquire)) return;
  if (wish.ticket != state.window_ticket.load(std::memory_order_relaxed)) Begin(state, wish);
  const bool ours = slot == wish.group_slot && sequence != abi::kNoSequence64;
  const bool late = MonotonicNs() > wish.deadline_ns;
  if (state.window_open.load(std::memory_order_relaxed)) {
    const bool over = ours && sequence > wish.close_sequence;
    if (over || late) {
      Close(state, sequence, over ? WindowReason::kNone : WindowReason::kDeadline);
    }
  } else if (late || (ours && sequence > wish.close_sequence)) {
    Finish(state, WindowPhase::kRefused, WindowReason::kDeadline);
  } else if (ours && sequence >= wish.open_sequence) {
    Open(state, wish, sequence);
  }
}

}  // namespace

void StepWindow(TracerState& state, std::uint16_t slot, std::uint64_t sequence) {
  Wish wish;
  if (!ReadWish(state.region.control->window_request, &wish)) return;
  const Uncancelled to_the_end;
  if (state.window_busy.exchange(true, std::memory_order_acquire)) return;
  const int saved = errno;
  Step(state, wish, slot, sequence);
  errno = saved;
  state.window_busy.store(false, std::memory_order_release);
}

bool CutWindowShort(TracerState& state, WindowReason reason) {
  const Uncancelled to_the_end;
  while (state.window_busy.exchange(true, std::memory_order_acquire)) sched_yield();
  const bool open = state.window_open.load(std::memory_order_relaxed);
  if (open) Close(state, abi::kNoSequence64, reason);
  state.window_busy.store(false, std::memory_order_release);
  return open;
}

}  // namespace fathom::tracer
