#include "daemon/agent/pipeline/worker_clock.h"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(WorkerClockTest, KnowsNothingBeforeTheSecondReading) {
  WorkerClock clock;
  EXPECT_EQ(clock.Starved(0, 100 * kMs), 0);
  clock.Add(0, {{10, 5 * kMs}});
  EXPECT_EQ(clock.Starved(0, 100 * kMs), 0);
}

TEST(WorkerClockTest, TellsTheMeanOfTheWorkersBetweenReadings) {
  WorkerClock clock;
  clock.Add(0, {{10, 0}, {11, 50 * kMs}});
  clock.Add(100 * kMs, {{10, 60 * kMs}, {11, 70 * kMs}});
  EXPECT_EQ(clock.Starved(0, 100 * kMs), 40 * kMs);
  EXPECT_EQ(clock.Starved(25 * kMs, 50 * kMs), 10 * kMs);
  EXPECT_EQ(clock.Starved(50 * kMs, 25 * kMs), 0);
}

TEST(WorkerClockTest, GoesOnBehindTheNewestReading) {
  WorkerClock clock;
  clock.Add(0, {{10, 0}});
  clock.Add(100 * kMs, {{10, 50 * kMs}});
  EXPECT_EQ(clock.Starved(100 * kMs, 140 * kMs), 20 * kMs);
  EXPECT_EQ(clock.Starved(90 * kMs, 110 * kMs), 10 * kMs);
}

TEST(WorkerClockTest, OldTimesAreNotMadeUp) {
  WorkerClock clock;
  clock.Add(1000 * kMs, {{10, 0}});
  clock.Add(1100 * kMs, {{10, 50 * kMs}});
  EXPECT_EQ(clock.Starved(0, 1000 * kMs), 0);
}

TEST(WorkerClockTest, AWorkerThatCameOrWentIsNoWait) {
  WorkerClock clock;
  clock.Add(0, {{10, 900 * kMs}});
  clock.Add(100 * kMs, {{11, 700 * kMs}});
  EXPECT_EQ(clock.Starved(0, 100 * kMs), 0) << "nobody is in both readings";
  clock.Add(200 * kMs, {{11, 100 * kMs}});
  EXPECT_EQ(clock.Starved(100 * kMs, 200 * kMs), 0) << "its number was given to another process";
  clock.Add(300 * kMs, {{11, 130 * kMs}, {12, 5 * kMs}});
  EXPECT_EQ(clock.Starved(200 * kMs, 300 * kMs), 30 * kMs);
}

}  // namespace
}  // namespace fathom::agent
