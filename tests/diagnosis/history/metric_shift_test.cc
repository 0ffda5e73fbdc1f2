#include "diagnosis/history/metric_shift.h"

#include <gtest/gtest.h>

namespace fathom::diagnosis {
namespace {

constexpr auto kSingle = static_cast<std::size_t>(FlopClass::kFp32);

TEST(MetricShift, IsHeldAgainstWhatRunsDifferBy) {
  const MetricShift far = ShiftOf(1.2, {1.0, 1.01, 0.99, 1.0, 1.0}, 0.003);
  ASSERT_TRUE(far.known);
  EXPECT_NEAR(far.growth(), 0.2, 1e-3);
  EXPECT_LT(far.chance_above, 1e-4);
  EXPECT_GT(far.chance_below, 0.99);
  const MetricShift near = ShiftOf(1.01, {1.0, 1.01, 0.99, 1.0, 1.0}, 0.003);
  EXPECT_GT(near.chance_above, 0.05);
  const MetricShift wide = ShiftOf(1.2, {1.0, 1.3, 0.8, 1.1, 0.9}, 0.003);
  EXPECT_GT(wide.chance_above, 0.05);
}

TEST(MetricShift, RunsThatAreEqualAreNotCertain) {
  EXPECT_GT(ShiftOf(1.001, {1, 1, 1}, 0.01).chance_above, 0.3);
}

TEST(MetricShift, WhatOneRunDoesNotTellIsNotCompared) {
  EXPECT_FALSE(ShiftOf(1, {1, 0, 1}, 0.01).known);
  EXPECT_FALSE(ShiftOf(0, {1, 1, 1}, 0.01).known);
  EXPECT_FALSE(ShiftOf(1, {1}, 0.01).known);
  EXPECT_FALSE(ShiftOf(1, {}, 0.01).known);
}

TEST(FlopRate, IsThatOfTheTimeThatIsNeitherVoidNorCommunication) {
  IterationParts parts;
  parts.duration_s = 0.1;
  parts.void_between_s = 0.02;
  parts.void_within_s = 0.01;
  parts.communication_s = 0.02;
  parts.flop[kSingle] = 1e9;
  parts.void_known = parts.flop_known = 1;
  EXPECT_NEAR(FlopRate(parts), 2e10, 1);
  parts.void_known = 0.5;
  EXPECT_EQ(FlopRate(parts), 0) << "half of the iterations tell no void time";
  parts.void_known = 1;
  parts.communication_s = 0.07;
  EXPECT_EQ(FlopRate(parts), 0) << "what is left is no time to divide by";
}

}  // namespace
}  // namespace fathom::diagnosis
