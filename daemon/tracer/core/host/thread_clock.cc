#include "daemon/tracer/core/host/thread_clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fathom::tracer {
namespace {

// A reading that took longer was interrupted: half of it is how far the two clocks may be apart.
constexpr std::uint64_t kMaxReadingTicks = 1024;
// The rate is measured over 2 to 8 ms at least, so that two readings' errors do not count.
constexpr std::uint64_t kMinSpanTicks = std::uint64_t{1} << 23;
constexpr std::uint64_t kMaxSpanTicks = std::uint64_t{1} << 31;
// Two measurements agree within 1/1024: NTP slews by up to 1/2000.
constexpr int kAgreeShift = 10;
// 1 tick a ns at least, 16 at most: anything else is not a counter of time.
constexpr std::uint64_t kMinRate = std::uint64_t{1} << 28;
constexpr std::uint64_t kMaxRate = (std::uint64_t{1} << 32) - 1;

std::atomic<bool> allowed{false};

bool CounterIsInvariant() {
#if defined(__x86_64__)
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariantBit = 1u << 8;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(kPowerLeaf, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariantBit) != 0;
#else
  return false;
#endif
}

bool KernelKeepsTimeByIt() {
  const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char name[8] = {};
  const bool read_it = read(file, name, sizeof(name)) == 4;
  close(file);
  return read_it && memcmp(name, "tsc\n", 4) == 0;
}

}  // namespace

bool CounterMayBeRead() {
  int may = PR_TSC_ENABLE;
  return prctl(PR_GET_TSC, &may) != 0 || may == PR_TSC_ENABLE;
}

void AllowCarriedClock() {
  allowed.store(CounterIsInvariant() && KernelKeepsTimeByIt(), std::memory_order_relaxed);
}

void ThreadClock::Measure(std::uint64_t ticks, std::int64_t ns) {
  const std::uint64_t span = ticks - base_ticks_;
  if (base_ticks_ != 0 && span < kMinSpanTicks) return;
  const std::int64_t passed = ns - base_ns_;
  const bool usable = base_ticks_ != 0 && span < kMaxSpanTicks && passed > 0 &&
                      static_cast<std::uint64_t>(passed) < span;
  base_ticks_ = ticks;
  base_ns_ = ns;
  if (!usable) return;
  const std::uint64_t measured = (static_cast<std::uint64_t>(passed) << 32) / span;
  const std::uint64_t apart = measured > rate_ ? measured - rate_ : rate_ - measured;
  trusted_ = measured >= kMinRate && measured <= kMaxRate && apart <= rate_ >> kAgreeShift;
  rate_ = measured;
}

std::int64_t ThreadClock::Anchor(std::uint64_t before, std::int64_t ns, std::uint64_t after) {
  max_age_ = 0;
  told_ns_ = ns_ = ns > told_ns_ ? ns : told_ns_;
  if (after - before > kMaxReadingTicks) return ns_;
  ticks_ = before + (after - before) / 2;
  Measure(ticks_, ns);
  if (trusted_) max_age_ = (static_cast<std::uint64_t>(kMaxAgeNs) << 32) / rate_;
  return ns_;
}

[[gnu::cold, gnu::noinline]] Moment ReadBothClocks(ThreadClock& clock, std::uint64_t before) {
  const std::int64_t ns = MonotonicNs();
  if (!allowed.load(std::memory_order_relaxed)) return {ns, before};
  const std::uint64_t after = CpuTicks();
  return {clock.Anchor(before, ns, after), after};
}

}  // namespace fathom::tracer
