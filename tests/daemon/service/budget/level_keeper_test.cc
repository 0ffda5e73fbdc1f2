// When levels change, on made-up prices: a knob of two levels beside what no knob changes.
#include "daemon/service/budget/level_keeper.h"

#include <gtest/gtest.h>

namespace fathom::service {
namespace {

struct LevelKeeperTest : testing::Test {
  LevelKeeperTest() { plan.budget = {1, kNoLimit, kNoLimit}; }

  bool Decide() {
    now = now + Nanos(5'000'000'000);
    const Levels levels = {{{{fine, 0, 0}, 0, true}, {{fine / 4, 0, 0}, 1, true}},
                           {{{rest, 0, 0}, 0, true}}};
    return keeper.Decide(levels, now, plan);
  }
  std::size_t level() const { return keeper.held().front(); }

  LevelKeeper keeper{1, "late"};
  WorkPlan plan;
  MonoNs now{1};
  double fine = 0.5, rest = 0.3;
};

TEST_F(LevelKeeperTest, WhatFitsStaysAsItIs) {
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Decide());
  EXPECT_TRUE(plan.fits);
  EXPECT_DOUBLE_EQ(plan.spend.cores, 0.8);
  EXPECT_EQ(plan.changes, 0u);
}

TEST_F(LevelKeeperTest, BeyondTheBudgetItIsCoarserAtOnce) {
  rest = 0.7;
  EXPECT_TRUE(Decide());
  EXPECT_EQ(level(), 1u);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.why, "it would take 1.2 times the budget");
  EXPECT_EQ(plan.since, now);
}

TEST_F(LevelKeeperTest, JustWithinTheBudgetIsWithin) {
  rest = 0.5;
  EXPECT_FALSE(Decide());
  EXPECT_TRUE(plan.fits);
}

TEST_F(LevelKeeperTest, FinerAfterHalfAMinuteOfFit) {
  rest = 0.7;
  Decide();
  rest = 0.2;
  for (int i = 1; i < LevelKeeper::kCalmLooks; ++i) EXPECT_FALSE(Decide()) << i;
  EXPECT_TRUE(Decide());
  EXPECT_EQ(level(), 0u);
  EXPECT_EQ(plan.why, "a finer plan fits well");
}

TEST_F(LevelKeeperTest, NotFinerWhereItWouldBarelyFit) {
  rest = 0.7;
  Decide();
  rest = 0.35;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Decide());
  EXPECT_EQ(level(), 1u) << "0.85 is within the budget, and beyond four fifths of it";
}

TEST_F(LevelKeeperTest, WhatSwingsAroundALimitStaysCoarse) {
  for (int i = 0; i < 40; ++i) {
    rest = i % 4 == 0 ? 0.7 : 0.2;
    Decide();
  }
  EXPECT_EQ(plan.changes, 1u);
}

TEST_F(LevelKeeperTest, SaysWhereNothingHelps) {
  rest = 1.5;
  Decide();
  EXPECT_FALSE(plan.fits);
  EXPECT_GT(plan.spend.Times(plan.budget), 1.5);
  EXPECT_FALSE(Decide()) << "once";
}

}  // namespace
}  // namespace fathom::service
