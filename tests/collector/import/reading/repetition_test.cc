#include "collector/import/reading/repetition.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::collector {
namespace {

using Keys = std::vector<std::uint64_t>;

Keys Repeat(const Keys& period, std::size_t times) {
  Keys out;
  for (std::size_t i = 0; i < times; ++i) out.insert(out.end(), period.begin(), period.end());
  return out;
}

TEST(FindPeriod, WhatStandsBeforeAndAfterIsLeftOut) {
  Keys keys = {9, 8, 7};
  const Keys middle = Repeat({1, 2, 3}, 10);
  keys.insert(keys.end(), middle.begin(), middle.end());
  keys.insert(keys.end(), {6, 5});
  const auto found = FindPeriod(keys);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->period, 3u);
  EXPECT_EQ(found->begin, 3u);
  EXPECT_EQ(found->end, 33u);
}

TEST(FindPeriod, RunsOfEqualOpsWithinAStepAreNoPeriod) {
  const auto found = FindPeriod(Repeat({1, 1, 1, 1, 1, 1, 1, 2}, 12));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->period, 8u);
}

TEST(FindPeriod, EqualOpsAreAPeriodOfOne) {
  const auto found = FindPeriod(Repeat({1}, 12));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->period, 1u);
  EXPECT_EQ(found->end - found->begin, 12u);
}

TEST(FindPeriod, NothingRepeatsInOpsThatNeverComeAgain) {
  Keys keys;
  for (std::uint64_t i = 0; i < 100; ++i) keys.push_back(i);
  EXPECT_FALSE(FindPeriod(keys));
  EXPECT_FALSE(FindPeriod({}));
  EXPECT_FALSE(FindPeriod(Keys{1}));
  EXPECT_FALSE(FindPeriod(Keys{1, 1, 1}));
}

TEST(FindPeriod, ALostOpEndsTheStretch) {
  Keys keys = Repeat({1, 2, 3}, 20);
  keys.erase(keys.begin() + 10);
  const auto found = FindPeriod(keys);
  ASSERT_TRUE(found) << "two thirds are whole";
  EXPECT_EQ(found->begin, 10u);
  EXPECT_EQ(found->end, 59u);
}

}  // namespace
}  // namespace fathom::collector
