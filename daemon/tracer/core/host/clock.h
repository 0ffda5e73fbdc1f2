// The node's CLOCK_MONOTONIC in ns, read through the vDSO: no system call where the kernel's clock
// source allows it (tsc, kvm-clock, arch_sys_counter).
//
// Used where time is rarely read; records use thread_clock.h. Thread-safety: pure. Cost: 25 to 55
// ns; CpuTicks 8 to 20.
#ifndef FATHOM_DAEMON_TRACER_CORE_HOST_CLOCK_H_
#define FATHOM_DAEMON_TRACER_CORE_HOST_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace fathom::tracer {

inline std::int64_t ReadClockNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t MonotonicNs() { return ReadClockNs(CLOCK_MONOTONIC); }

// A counter of this core that runs at 1 to 4 ticks a ns: tells short calls from long ones, and
// carries time on (thread_clock.h).
inline std::uint64_t CpuTicks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(MonotonicNs()) * 2;
#endif
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_HOST_CLOCK_H_
