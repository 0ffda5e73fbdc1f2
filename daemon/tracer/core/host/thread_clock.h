// CLOCK_MONOTONIC at the cost of one reading of the CPU's counter: carried on from a reading of the
// system's clock that this thread made less than a millisecond ago.
//
// Used by all that writes records. The system's clock costs 25 to 60 ns (its vDSO orders the
// counter against all other instructions), the bare counter 10 to 20.
//
// Model: an anchor is one reading of both clocks; between anchors time is
//   anchor.ns + (counter − anchor.ticks) × rate
// `rate` is measured by the thread itself between anchors some milliseconds apart, and trusted once
// two measurements in a row agree. No anchor is older than kMaxAgeNs when it is used, so an error
// of the rate counts for a millisecond at most. Why it is right and what it is out by:
// docs/design/0008-thread-clock.md.
// Not used (every reading is the system's then) where the counter is not invariant, where the
// kernel itself does not keep time by it, and on other CPUs than x86-64. Units: ns of
// CLOCK_MONOTONIC; ticks of the time-stamp counter; rate in ns a tick × 2^32. Thread-safety: each
// thread has its own, in ThreadState; zero-filled is an empty one. Errors: none; what cannot be
// trusted is read from the system. Cost: hot path, 10 instructions; no system call.
#ifndef FATHOM_DAEMON_TRACER_CORE_HOST_THREAD_CLOCK_H_
#define FATHOM_DAEMON_TRACER_CORE_HOST_THREAD_CLOCK_H_

#include <cstdint>

#include "daemon/tracer/core/host/clock.h"

namespace fathom::tracer {

inline constexpr std::int64_t kMaxAgeNs = 1'000'000;

class ThreadClock {
 public:
  // The system's clock said `ns` at some point between the counter's `before` and `after`. Returns
  // the time to tell: `ns`, or what was told already if that is later.
  std::int64_t Anchor(std::uint64_t before, std::int64_t ns, std::uint64_t after);

  // True if time can be carried to `ticks`; `ns` is it then.
  bool Carry(std::uint64_t ticks, std::int64_t* ns) {
    const std::uint64_t age = ticks - ticks_;
    if (age >= max_age_) return false;
    *ns = told_ns_ = ns_ + static_cast<std::int64_t>(age * rate_ >> 32);
    return true;
  }

 private:
  void Measure(std::uint64_t ticks, std::int64_t ns);

  std::uint64_t ticks_ = 0;
  std::int64_t ns_ = 0;
  std::int64_t told_ns_ = 0;   // the latest
  std::uint64_t max_age_ = 0;  // ticks; 0: not to be carried on from
  std::uint64_t rate_ = 0;     // below 2^32
  bool trusted_ = false;
  std::uint64_t base_ticks_ = 0;  // where the measurement of the rate began
  std::int64_t base_ns_ = 0;
};

// Both clocks at one moment.
struct Moment {
  std::int64_t ns;
  std::uint64_t ticks;
};

// False where reading the CPU's counter ends this process (PR_SET_TSC, which seccomp's strict mode
// sets too): nothing can be told then, not even by the system's clock, which reads it in the vDSO.
bool CounterMayBeRead();

// Lets this process carry time on if its kernel keeps time by an invariant counter. Reads a file.
void AllowCarriedClock();

// Reads the system's clock; the counter was at `before` just now.
Moment ReadBothClocks(ThreadClock& clock, std::uint64_t before);

// Now, by `clock` of this thread.
inline Moment Now(ThreadClock& clock) {
  Moment now;
  now.ticks = CpuTicks();
  if (clock.Carry(now.ticks, &now.ns)) [[likely]]
    return now;
  return ReadBothClocks(clock, now.ticks);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_HOST_THREAD_CLOCK_H_
