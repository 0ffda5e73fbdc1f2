#include "daemon/agent/pipeline/thread_clock.h"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

TEST(ThreadClockTest, InterpolatesBetweenSamples) {
  ThreadClock clock;
  ASSERT_TRUE(clock.Watch(7));
  clock.Add(7, {100, 1000, 0});
  clock.Add(7, {200, 1080, 20});
  const auto at = clock.At(7, 150);
  ASSERT_TRUE(at.has_value());
  EXPECT_EQ(at->cpu_ns, 1040);
  EXPECT_EQ(at->runqueue_ns, 10);
  EXPECT_EQ(clock.At(7, 200)->cpu_ns, 1080);
}

TEST(ThreadClockTest, KnowsNothingOutsideItsSamples) {
  ThreadClock clock;
  clock.Watch(7);
  clock.Add(7, {100, 1, 1});
  clock.Add(7, {200, 2, 2});
  EXPECT_FALSE(clock.At(7, 99).has_value());
  EXPECT_FALSE(clock.At(7, 201).has_value());
  EXPECT_FALSE(clock.At(8, 150).has_value());
}

TEST(ThreadClockTest, TakesSamplesOutOfOrder) {
  ThreadClock clock;
  clock.Watch(7);
  clock.Add(7, {300, 30, 0});
  clock.Add(7, {100, 10, 0});
  clock.Add(7, {200, 20, 0});
  EXPECT_EQ(clock.At(7, 250)->cpu_ns, 25);
}

TEST(ThreadClockTest, IsBounded) {
  ThreadClock clock;
  for (std::uint32_t tid = 1; tid <= ThreadClock::kMaxThreads; ++tid) {
    EXPECT_TRUE(clock.Watch(tid));
  }
  EXPECT_FALSE(clock.Watch(1000));
  EXPECT_TRUE(clock.Watch(1));
  const auto points = static_cast<std::int64_t>(ThreadClock::kMaxPoints);
  for (std::int64_t i = 1; i <= points + 10; ++i) clock.Add(1, {i, i, i});
  EXPECT_FALSE(clock.At(1, 10).has_value());
  EXPECT_TRUE(clock.At(1, 11).has_value());
}

}  // namespace
}  // namespace fathom::agent
