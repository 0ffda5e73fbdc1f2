#include "diagnosis/peers/pair_outlier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fathom::diagnosis {
namespace {

constexpr double kIteration = 0.1;

OutlierTable Pair(std::size_t iterations, double sigma, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.02, sigma);
  OutlierTable table;
  table.role = {0, 0};
  table.iteration_s = kIteration;
  for (int e = 0; e < 2; ++e) {
    std::vector<double>& row = table.seconds.emplace_back();
    for (std::size_t i = 0; i < iterations; ++i) row.push_back(std::abs(normal(random)));
  }
  return table;
}

OutlierLimits OfHosts() {
  OutlierLimits limits;
  limits.noise_floor = 0.02;
  limits.recurring_share = 0.1;
  return limits;
}

TEST(PairOutlierTest, TwoThatAreAlikeNameNobody) {
  std::size_t named = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const double sigma = seed % 2 == 0 ? 0.001 : 0.01;
    named += OutlierOfPair(Pair(3 + seed % 40, sigma, seed), OfHosts()).found.empty() ? 0 : 1;
  }
  EXPECT_EQ(named, 0u);
}

TEST(PairOutlierTest, ThreeIterationsAreEnoughForWhatIsFarAbove) {
  OutlierTable table = Pair(3, 0.0005, 1);
  for (double& value : table.seconds[1]) value += 0.05;
  const Outliers outliers = OutlierOfPair(table, OfHosts());
  ASSERT_EQ(outliers.found.size(), 1u);
  EXPECT_EQ(outliers.found[0].entity, 1u);
  EXPECT_TRUE(outliers.found[0].lasting);
  EXPECT_TRUE(outliers.found[0].excess > 0.045 && outliers.found[0].excess < 0.055);
  EXPECT_EQ(outliers.found[0].peers, 1u);
  EXPECT_EQ(outliers.reference[1], table.seconds[0]);
}

// Collections of garbage vary by a tenth and more, and come in each iteration of one rank only.
TEST(PairOutlierTest, WhatVariesMuchIsFoundWhereOnlyOneHasIt) {
  OutlierTable table = Pair(20, 0.0005, 2);
  std::mt19937 random(3);
  std::normal_distribution<double> normal(0.1, 0.03);
  for (double& value : table.seconds[0]) value += std::max(0.03, normal(random));
  const Outliers outliers = OutlierOfPair(table, OfHosts());
  ASSERT_EQ(outliers.found.size(), 1u);
  EXPECT_EQ(outliers.found[0].entity, 0u);
  EXPECT_TRUE(outliers.found[0].lasting);
  EXPECT_GE(outliers.found[0].shows, 16u);
}

TEST(PairOutlierTest, WhatComesBackIsFound) {
  OutlierTable table = Pair(60, 0.0005, 4);
  for (std::size_t i = 0; i < 60; i += 4) table.seconds[1][i] += 0.06;
  const Outliers outliers = OutlierOfPair(table, OfHosts());
  ASSERT_EQ(outliers.found.size(), 1u);
  EXPECT_EQ(outliers.found[0].entity, 1u);
  EXPECT_FALSE(outliers.found[0].lasting);
  EXPECT_EQ(outliers.found[0].shows, 15u);
}

TEST(PairOutlierTest, HiccupsOfBothNameNobody) {
  OutlierTable table = Pair(40, 0.0005, 5);
  for (std::size_t i = 0; i < 40; i += 4) table.seconds[1][i] += 0.06;
  for (std::size_t i = 2; i < 40; i += 8) table.seconds[0][i] += 0.05;
  EXPECT_TRUE(OutlierOfPair(table, OfHosts()).found.empty());
}

TEST(PairOutlierTest, TwoIterationsOrUnknownOnesAreTooFew) {
  OutlierTable table = Pair(2, 0.0005, 6);
  for (double& value : table.seconds[1]) value += 0.05;
  EXPECT_TRUE(OutlierOfPair(table, OfHosts()).found.empty());
  table = Pair(5, 0.0005, 7);
  for (double& value : table.seconds[1]) value += 0.05;
  for (std::size_t i = 0; i < 3; ++i) table.seconds[0][i] = std::nan("");
  EXPECT_TRUE(OutlierOfPair(table, OfHosts()).found.empty());
}

}  // namespace
}  // namespace fathom::diagnosis
