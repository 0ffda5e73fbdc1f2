#include "daemon/agent/pipeline/held_back.h"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

constexpr std::int64_t kOneMs = 1'000'000;

TEST(HeldBackTest, TakesOutWhatTheLimitHeldBack) {
  HeldBack held;
  held.Throttled(0, 500 * kOneMs);
  EXPECT_EQ(held.Without(1, 0, 40 * kOneMs), 40 * kOneMs);
  held.Throttled(100 * kOneMs, 575 * kOneMs);
  EXPECT_EQ(held.Growth(1, 120 * kOneMs), 80 * kOneMs);
  EXPECT_EQ(held.Without(1, 100 * kOneMs, 120 * kOneMs), 45 * kOneMs) << "5 ms for want of a core";
  EXPECT_EQ(held.Without(1, 110 * kOneMs, 130 * kOneMs), 55 * kOneMs) << "it is taken out once";
}

TEST(HeldBackTest, TheThreadsOwnCountComesLater) {
  HeldBack held;
  held.Throttled(0, 0);
  held.Without(1, 0, 0);
  held.Throttled(100 * kOneMs, 75 * kOneMs);
  EXPECT_EQ(held.Without(1, 100 * kOneMs, 0), 0);
  EXPECT_EQ(held.Without(1, 105 * kOneMs, 75 * kOneMs), 0);
  EXPECT_EQ(held.Without(1, 2000 * kOneMs, 95 * kOneMs), 20 * kOneMs);
}

TEST(HeldBackTest, EachThreadIsHeldBack) {
  HeldBack held;
  held.Throttled(0, 0);
  for (const std::uint32_t id : {1, 2}) held.Without(id, 0, 0);
  held.Throttled(100 * kOneMs, 150 * kOneMs);  // two processors, 75 ms each
  for (const std::uint32_t id : {1, 2}) {
    EXPECT_EQ(held.Without(id, 100 * kOneMs, 75 * kOneMs), 0);
  }
}

TEST(HeldBackTest, NobodyIsHeldBackForLongerThanTimeWent) {
  HeldBack held;
  held.Throttled(0, 0);
  held.Without(1, 0, 0);
  held.Throttled(100 * kOneMs, 800 * kOneMs);  // eight processors
  EXPECT_EQ(held.Without(1, 100 * kOneMs, 300 * kOneMs), 200 * kOneMs);
}

TEST(HeldBackTest, CreditDoesNotLast) {
  HeldBack held;
  held.Throttled(0, 0);
  held.Without(1, 0, 0);
  held.Throttled(100 * kOneMs, 75 * kOneMs);
  const std::int64_t late = 100 * kOneMs + HeldBack::kLastsNs + 1;
  EXPECT_EQ(held.Without(1, late, 60 * kOneMs), 60 * kOneMs) << "of a machine that is full";
}

TEST(HeldBackTest, WithoutALimitAllIsLeft) {
  HeldBack held;
  EXPECT_EQ(held.Growth(1, 7), 0);
  EXPECT_EQ(held.Without(1, 0, 7), 7);
  EXPECT_EQ(held.Without(1, 5, 90), 90);
}

TEST(HeldBackTest, WithinAnOpItComesLater) {
  HeldBack held;
  held.Throttled(0, 0);
  EXPECT_EQ(held.Arrival(10 * kOneMs, 130 * kOneMs), 10 * kOneMs);
  held.Throttled(120 * kOneMs, 90 * kOneMs);  // from 30 on
  EXPECT_EQ(held.Arrival(10 * kOneMs, 130 * kOneMs), 100 * kOneMs);
  EXPECT_EQ(held.Arrival(40 * kOneMs, 130 * kOneMs), 120 * kOneMs) << "it came in the middle";
  EXPECT_EQ(held.Arrival(10 * kOneMs, 50 * kOneMs), 30 * kOneMs) << "the op was over before";
  EXPECT_EQ(held.Arrival(125 * kOneMs, 130 * kOneMs), 125 * kOneMs);
  EXPECT_EQ(held.Arrival(10 * kOneMs, 0), 10 * kOneMs) << "it is not over";
  EXPECT_EQ(held.Arrival(0, 130 * kOneMs), 0) << "not known";
  held.Throttled(200 * kOneMs, 130 * kOneMs);  // from 160 on
  EXPECT_EQ(held.Arrival(10 * kOneMs, 300 * kOneMs), 140 * kOneMs);
}

TEST(HeldBackTest, WhoIsStoppedWithinAnOpComesLaterToo) {
  HeldBack held;
  held.Stopped(30 * kOneMs, 80 * kOneMs);
  held.Stopped(80 * kOneMs, 120 * kOneMs);  // it goes on
  EXPECT_EQ(held.Arrival(10 * kOneMs, 130 * kOneMs), 100 * kOneMs);
  EXPECT_EQ(held.Arrival(10 * kOneMs, 60 * kOneMs), 40 * kOneMs);
  EXPECT_EQ(held.Without(1, 130 * kOneMs, 7), 7) << "who is stopped waits for no core";
  held.Stopped(200 * kOneMs, 300 * kOneMs);
  EXPECT_EQ(held.Arrival(150 * kOneMs, 310 * kOneMs), 250 * kOneMs);
}

TEST(HeldBackTest, StoppedAndHeldBackAtOnceCountsOnce) {
  HeldBack held;
  held.Throttled(0, 0);
  held.Stopped(30 * kOneMs, 80 * kOneMs);
  held.Throttled(100 * kOneMs, 60 * kOneMs);  // from 40 on
  EXPECT_EQ(held.Arrival(10 * kOneMs, 200 * kOneMs), 80 * kOneMs);
  held.Stopped(90 * kOneMs, 110 * kOneMs);
  EXPECT_EQ(held.Arrival(10 * kOneMs, 200 * kOneMs), 90 * kOneMs);
}

}  // namespace
}  // namespace fathom::agent
