#include "daemon/agent/pipeline/worker_clock.h"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMilli = 1'000'000;

TEST(WorkerClockTest, KnowsNothingBeforeTheSecondReading) {
  WorkerClock clock;
  EXPECT_EQ(clock.Starved(0, 100 * kMilli), 0);
  clock.Add(0, {{10, 5 * kMilli}});
  EXPECT_EQ(clock.Starved(0, 100 * kMilli), 0);
}

TEST(WorkerClockTest, TellsTheMeanOfTheWorkersBetweenReadings) {
  WorkerClock clock;
  clock.Add(0, {{10, 0}, {11, 50 * kMilli}});
  clock.Add(100 * kMilli, {{10, 60 * kMilli}, {11, 70 * kMilli}});
  EXPECT_EQ(clock.Starved(0, 100 * kMilli), 40 * kMilli);
  EXPECT_EQ(clock.Starved(25 * kMilli, 50 * kMilli), 10 * kMilli);
  EXPECT_EQ(clock.Starved(50 * kMilli, 25 * kMilli), 0);
}

TEST(WorkerClockTest, GoesOnBehindTheNewestReading) {
  WorkerClock clock;
  clock.Add(0, {{10, 0}});
  clock.Add(100 * kMilli, {{10, 50 * kMilli}});
  EXPECT_EQ(clock.Starved(100 * kMilli, 140 * kMilli), 20 * kMilli);
  EXPECT_EQ(clock.Starved(90 * kMilli, 110 * kMilli), 10 * kMilli);
}

TEST(WorkerClockTest, OldTimesAreNotMadeUp) {
  WorkerClock clock;
  clock.Add(1000 * kMilli, {{10, 0}});
  clock.Add(1100 * kMilli, {{10, 50 * kMilli}});
  EXPECT_EQ(clock.Starved(0, 1000 * kMilli), 0);
}

TEST(WorkerClockTest, AWorkerThatCameOrWentIsNoWait) {
  WorkerClock clock;
  clock.Add(0, {{10, 900 * kMilli}});
  clock.Add(100 * kMilli, {{11, 700 * kMilli}});
  EXPECT_EQ(clock.Starved(0, 100 * kMilli), 0) << "nobody is in both readings";
  clock.Add(200 * kMilli, {{11, 100 * kMilli}});
  EXPECT_EQ(clock.Starved(100 * kMilli, 200 * kMilli), 0)
      << "its number was given to another process";
  clock.Add(300 * kMilli, {{11, 130 * kMilli}, {12, 5 * kMilli}});
  EXPECT_EQ(clock.Starved(200 * kMilli, 300 * kMilli), 30 * kMilli);
}

}  // namespace
}  // namespace fathom::agent
