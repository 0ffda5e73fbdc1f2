#include "diagnosis/stats/robust.h"

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

TEST(RobustTest, MedianOfOddEvenAndNone) {
  EXPECT_DOUBLE_EQ(Median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(Median({}), 0);
}

TEST(RobustTest, MedianIsNotMovedByWildValues) { EXPECT_DOUBLE_EQ(Median({1, 1, 1, 1e9, 1e9}), 1); }

TEST(RobustTest, QuantilesInterpolate) {
  EXPECT_DOUBLE_EQ(Quantile({10, 20, 30, 40, 50}, 0), 10);
  EXPECT_DOUBLE_EQ(Quantile({10, 20, 30, 40, 50}, 1), 50);
  EXPECT_DOUBLE_EQ(Quantile({10, 20, 30, 40, 50}, 0.9), 46);
}

TEST(RobustTest, MadSigmaIsScaledToTheNormal) {
  EXPECT_NEAR(MadSigma({1, 2, 3, 4, 5}, 3), 1.4826, 1e-9);
  EXPECT_DOUBLE_EQ(MadSigma({7, 7, 7, 100}, 7), 0);
}

}  // namespace
}  // namespace fathom::diagnosis
