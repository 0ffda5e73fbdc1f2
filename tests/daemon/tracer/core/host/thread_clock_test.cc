#include "daemon/tracer/core/host/thread_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace fathom::tracer {
namespace {

// A machine whose counter and clock run as told: `rate` ns a tick.
struct Machine {
  double rate = 0.4;
  std::uint64_t ticks = 1'000'000'000;
  double ns = 5e12;
  std::uint64_t reading = 100;  // ticks that reading the clock takes

  void Pass(double by_ns) {
    ns += by_ns;
    ticks += static_cast<std::uint64_t>(by_ns / rate);
  }
  // What Now() does, with this machine's clocks.
  std::int64_t Read(ThreadClock& clock) {
    std::int64_t now = 0;
    carried = clock.Carry(ticks, &now);
    if (carried) return now;
    const std::uint64_t before = ticks;
    Pass(static_cast<double>(reading) * rate / 2);
    const auto told = static_cast<std::int64_t>(ns);
    Pass(static_cast<double>(reading) * rate / 2);
    return clock.Anchor(before, told, ticks);
  }
  bool carried = false;  // the last reading was

  // Reads every `step` ns for `long_ns`; returns how many readings were carried.
  int Run(ThreadClock& clock, double step, double long_ns) {
    int count = 0;
    for (const double end = ns + long_ns; ns < end; Pass(step)) {
      const std::int64_t now = Read(clock);
      EXPECT_GE(now, last);
      last = now;
      worst_ns = std::max(worst_ns, std::abs(static_cast<double>(now) - ns));
      count += carried ? 1 : 0;
    }
    return count;
  }
  std::int64_t last = 0;
  double worst_ns = 0;
};

TEST(ThreadClockTest, CarriesTimeOnOnceTwoMeasurementsAgree) {
  ThreadClock clock;
  Machine machine;
  EXPECT_EQ(machine.Run(clock, 10'000, 6e6), 0);
  const int readings = 10'000;
  const int carried = machine.Run(clock, 10'000, readings * 10'000.0);
  EXPECT_GT(carried, readings * 9 / 10);
  EXPECT_LT(machine.worst_ns, 100);
}

TEST(ThreadClockTest, NoReadingIsOlderThanAMillisecond) {
  ThreadClock clock;
  Machine machine;
  machine.Run(clock, 10'000, 2e7);
  machine.Pass(1e6);
  EXPECT_EQ(machine.Run(clock, 1.1e6, 5e7), 0);
}

// NTP slews the clock against the counter.
TEST(ThreadClockTest, AChangeOfRateCountsForAMillisecondOnly) {
  ThreadClock clock;
  Machine machine;
  machine.Run(clock, 10'000, 2e7);
  machine.rate *= 1.0005;
  EXPECT_GT(machine.Run(clock, 10'000, 1e8), 0);
  EXPECT_LT(machine.worst_ns, 600);
}

TEST(ThreadClockTest, ARateThatJumpsIsNotBelieved) {
  ThreadClock clock;
  Machine machine;
  machine.Run(clock, 10'000, 2e7);
  machine.rate *= 1.05;
  machine.Run(clock, 10'000, 3.6e6);  // until it is measured
  machine.worst_ns = 0;
  EXPECT_EQ(machine.Run(clock, 10'000, 1e6), 0);
  EXPECT_GT(machine.Run(clock, 10'000, 1e8), 0);
  EXPECT_LT(machine.worst_ns, 100);
}

// The machine slept: the clock stood while the counter ran.
TEST(ThreadClockTest, SleepOfTheMachineDoesNotCount) {
  ThreadClock clock;
  Machine machine;
  machine.Run(clock, 10'000, 2e7);
  machine.ticks += std::uint64_t{1} << 40;
  machine.Run(clock, 10'000, 1e8);
  EXPECT_LT(machine.worst_ns, 100);
}

TEST(ThreadClockTest, ACounterThatFallsBackIsReadAnew) {
  ThreadClock clock;
  Machine machine;
  machine.Run(clock, 10'000, 2e7);
  machine.ticks -= 5'000'000;
  machine.Pass(10'000);
  machine.Read(clock);
  EXPECT_FALSE(machine.carried);
  machine.Run(clock, 10'000, 1e8);
  EXPECT_LT(machine.worst_ns, 100);
}

TEST(ThreadClockTest, AnInterruptedReadingIsNoAnchor) {
  ThreadClock clock;
  Machine machine;
  machine.Run(clock, 10'000, 2e7);
  machine.Pass(2e6);
  machine.reading = 1'000'000;
  machine.Read(clock);
  machine.reading = 100;
  machine.Pass(10'000);
  machine.Read(clock);
  EXPECT_FALSE(machine.carried);
  machine.Pass(10'000);
  machine.Read(clock);
  EXPECT_TRUE(machine.carried);
}

TEST(ThreadClockTest, ACounterSlowerThanTheClockIsNotUsed) {
  ThreadClock clock;
  Machine machine;
  machine.rate = 1.5;
  EXPECT_EQ(machine.Run(clock, 10'000, 1e8), 0);
  EXPECT_LT(machine.worst_ns, 100);
}

// On this machine: between two readings of the system's clock lies the carried one.
TEST(ThreadClockTest, AgreesWithTheSystemsClock) {
  AllowCarriedClock();
  ThreadClock clock;
  std::int64_t last = 0;
  std::vector<std::int64_t> outside;
  const std::int64_t end = MonotonicNs() + 100'000'000;
  for (std::int64_t before = 0; before < end;) {
    before = MonotonicNs();
    const std::int64_t now = Now(clock).ns;
    const std::int64_t after = MonotonicNs();
    EXPECT_GE(now, last);
    last = now;
    outside.push_back(std::max({std::int64_t{0}, before - now, now - after}));
  }
  // An anchor may be half an interrupted reading out, its rate 0.1 us a ms.
  EXPECT_LT(*std::max_element(outside.begin(), outside.end()), 1'000);
  std::nth_element(outside.begin(),
                   outside.begin() + static_cast<std::ptrdiff_t>(outside.size() / 2),
                   outside.end());
  EXPECT_LT(outside[outside.size() / 2], 200);
}

}  // namespace
}  // namespace fathom::tracer
