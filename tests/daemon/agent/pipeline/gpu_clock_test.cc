#include "daemon/agent/pipeline/gpu_clock.h"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

constexpr std::uint64_t kEpoch = 1'700'000'000'000'000'000;

TEST(GpuClockTest, KnowsNothingBeforeAnEnd) {
  GpuClock clock;
  clock.NoteStart(1'000, kEpoch);
  EXPECT_FALSE(clock.known());
  EXPECT_EQ(clock.ToHost(kEpoch), 0);
}

TEST(GpuClockTest, TakesTheQuickestNotice) {
  GpuClock clock;  // host = gpu − kEpoch + 5000, notices come 40, 3 and 900 late
  clock.NoteEnd(5'000 + 100 + 40, kEpoch + 100);
  clock.NoteEnd(5'000 + 200 + 3, kEpoch + 200);
  clock.NoteEnd(5'000 + 300 + 900, kEpoch + 300);
  EXPECT_EQ(clock.ToHost(kEpoch + 1'000), 6'003);
}

TEST(GpuClockTest, TellsHowFarItMayBeOff) {
  GpuClock clock;
  clock.NoteEnd(5'100, kEpoch + 50);
  clock.NoteStart(5'000, kEpoch + 10);  // offset between 4990 and 5050, less the epoch
  EXPECT_EQ(clock.slack_ns(), 60);
}

TEST(GpuClockTest, BeginsAnewWhenAClockWasSet) {
  GpuClock clock;
  clock.NoteEnd(1'000'000'000, kEpoch);
  clock.NoteStart(1'000'000'500, kEpoch + 1'000);
  // The GPU's clock jumps ahead by 10 s: what ended then was heard of "before" it was launched.
  clock.NoteEnd(1'000'002'000, kEpoch + 10'000'000'000);
  EXPECT_EQ(clock.ToHost(kEpoch + 10'000'000'000), 1'000'002'000);
}

TEST(GpuClockTest, ForgetsAnOldBoundAfterTwoSpans) {
  GpuClock clock;
  clock.NoteEnd(1, kEpoch);
  for (int i = 1; i <= 3; ++i)
    clock.NoteEnd(i * (GpuClock::kSpanNs + 1) + 500, kEpoch + i * (GpuClock::kSpanNs + 1));
  EXPECT_EQ(clock.ToHost(kEpoch), 500);
}

TEST(GpuClockTest, ATimeThatIsNotToldStaysSo) {
  GpuClock clock;
  clock.NoteEnd(100, 0);
  EXPECT_FALSE(clock.known());
  clock.NoteEnd(100, 50);
  EXPECT_EQ(clock.ToHost(0), 0);
}

}  // namespace
}  // namespace fathom::agent
