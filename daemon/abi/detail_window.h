// A window of detail in a training process: asked for by the agent, opened and closed by the
// tracer.
//
// Part of ControlBlock (ring_layout.h). Written by daemon/agent (WindowRequest) and daemon/tracer
// (WindowState). docs/formats/ring.md draws it.
//
// Model: iterations are the agent's knowledge; a process knows the sequence of its communicators.
// So the agent says "from the op with this sequence on that communicator to that one", which is the
// same op on all members: all ranks of a job open and close at the same iteration.
//
//   agent: fields, then `ticket` + 1 (release)
//   tracer: kWaiting ──sequence ≥ open_sequence──► kOpen ──sequence > close_sequence──► kClosed
//              │                                     └── deadline passed, or another profiler ─►
//              kClosed └── deadline passed, or not possible ─► kRefused (with the reason)
//
// A new request may be written once state.ticket equals request.ticket and phase is kClosed or
// kRefused, or the deadline is a second ago.
// Units: CLOCK_MONOTONIC ns. Thread-safety: atomics; the fields belong to the ticket.
// Zero-filled memory: no request, no window.
#ifndef FATHOM_DAEMON_ABI_DETAIL_WINDOW_H_
#define FATHOM_DAEMON_ABI_DETAIL_WINDOW_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fathom::abi {

enum class WindowPhase : std::uint32_t {
  kNone = 0,
  kWaiting = 1,
  kOpen = 2,
  kClosed = 3,
  kRefused = 4,
};
inline constexpr std::uint32_t kWindowPhaseCount = 5;

// Why a window did not open, or closed before its time. Never renumbered.
enum class WindowReason : std::uint32_t {
  kNone = 0,
  kNoSource = 1,       // no source that was asked for can be had (e.g. no libcupti in the process)
  kOtherProfiler = 2,  // somebody else profiles this process
  kDeadline = 3,       // the op never came before the deadline
  kNoSpace = 4,        // the side file could not be made, or is full
  kUnsafe = 5,         // this version is known to harm the job when it is detached
  kFailed = 6,         // the library reported an error
};
inline constexpr std::uint32_t kWindowReasonCount = 7;

// One cache line, agent → tracer.
struct WindowRequest {
  std::atomic<std::uint32_t> ticket;         // rises by 1 with each request; 0: none yet
  std::atomic<std::uint32_t> group_slot;     // whose sequence counts
  std::atomic<std::uint64_t> open_sequence;  // opens as this op, or a later one, is entered
  std::atomic<std::uint64_t> close_sequence;
  std::atomic<std::int64_t> deadline_ns;
  std::atomic<std::uint32_t> sources;  // SourceBit: what to record
  std::uint32_t reserved0;
  std::uint64_t reserved[3];
};

// One cache line, tracer → agent.
struct WindowState {
  std::atomic<std::uint32_t> ticket;  // of the request that the rest is about
  std::atomic<std::uint32_t> phase;   // WindowPhase
  std::atomic<std::uint64_t> opened_sequence;
  std::atomic<std::uint64_t> closed_sequence;
  std::atomic<std::int64_t> opened_ns;
  std::atomic<std::int64_t> closed_ns;
  std::atomic<std::uint32_t> reason;  // WindowReason
  std::atomic<std::uint32_t> lost;    // records that did not fit
  std::atomic<std::uint64_t> records;
  std::uint64_t reserved;
};

static_assert(sizeof(WindowRequest) == 64);
static_assert(sizeof(WindowState) == 64);
static_assert(offsetof(WindowRequest, deadline_ns) == 24);
static_assert(offsetof(WindowState, reason) == 40);

}  // namespace fathom::abi

#endif  // FATHOM_DAEMON_ABI_DETAIL_WINDOW_H_
