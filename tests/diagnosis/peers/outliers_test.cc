#include "diagnosis/peers/outliers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fathom::diagnosis {
namespace {

OutlierTable Noise(std::size_t entities, std::size_t iterations, double sigma, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(1, sigma);
  OutlierTable table;
  table.role.assign(entities, 0);
  table.iteration_s = 1.5;
  for (std::size_t e = 0; e < entities; ++e) {
    table.seconds.emplace_back();
    for (std::size_t i = 0; i < iterations; ++i) table.seconds[e].push_back(normal(random));
  }
  return table;
}

TEST(OutliersTest, HealthyNoiseNamesNobody) {
  std::size_t named = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    named +=
        FindOutliers(Noise(4 + seed % 13, 3 + seed % 20, 0.02, seed), {}).found.empty() ? 0 : 1;
  }
  EXPECT_EQ(named, 0u);
}

TEST(OutliersTest, ThreeIterationsAreEnough) {
  OutlierTable table = Noise(8, 3, 0.005, 1);
  for (double& value : table.seconds[5]) value *= 1.1;
  const Outliers outliers = FindOutliers(table, {});
  ASSERT_EQ(outliers.found.size(), 1u);
  EXPECT_EQ(outliers.found[0].entity, 5u);
  EXPECT_TRUE(outliers.found[0].lasting);
  EXPECT_NEAR(outliers.found[0].excess, 0.1, 0.02);
  EXPECT_EQ(outliers.found[0].peers, 7u);
}

TEST(OutliersTest, WhatComesBackIsFound) {
  OutlierTable table = Noise(16, 12, 0.005, 2);
  for (const std::size_t i : {1, 4, 7, 10}) table.seconds[3][i] += 0.4;
  const Outliers outliers = FindOutliers(table, {});
  ASSERT_EQ(outliers.found.size(), 1u);
  EXPECT_EQ(outliers.found[0].entity, 3u);
  EXPECT_FALSE(outliers.found[0].lasting);
  EXPECT_EQ(outliers.found[0].shows, 4u);
}

// A checkpoint of one rank makes its mean the largest, and is no reason not to look at the others.
TEST(OutliersTest, ALongIterationOfOneHidesNobodyBehindIt) {
  OutlierTable table = Noise(16, 4, 0.005, 9);
  for (double& value : table.seconds[5]) value += 0.15;
  for (double& value : table.seconds[8]) value += 0.13;
  table.seconds[0][2] += 0.9;
  const Outliers outliers = FindOutliers(table, {});
  ASSERT_GE(outliers.found.size(), 2u);
  EXPECT_EQ(outliers.found[0].entity, 5u);
  EXPECT_EQ(outliers.found[1].entity, 8u);
  for (const Outlier& each : outliers.found) EXPECT_EQ(each.single, each.entity == 0);
}

// The checkpoint is the largest of all, and the pauses are three of the four largest.
TEST(OutliersTest, WhatComesBackIsFoundBesideOneLongIterationOfAnother) {
  OutlierTable table = Noise(8, 13, 0.005, 3);
  for (const std::size_t i : {6, 9, 12}) table.seconds[4][i] += 0.3;
  table.seconds[0][7] += 0.9;
  const Outliers outliers = FindOutliers(table, {});
  ASSERT_FALSE(outliers.found.empty());
  EXPECT_EQ(outliers.found[0].entity, 4u);
  EXPECT_EQ(outliers.found[0].shows, 3u);
  EXPECT_FALSE(outliers.found[0].single);
}

// The near miss: two of three may be of one by chance, and two long iterations are no one.
TEST(OutliersTest, BesideLongIterationsOfOthersTwoAreChance) {
  OutlierTable table = Noise(8, 13, 0.005, 3);
  for (const std::size_t i : {6, 9}) table.seconds[4][i] += 0.3;
  table.seconds[0][7] += 0.4;
  EXPECT_TRUE(FindOutliers(table, {}).found.empty());
  table.seconds[4][12] += 0.3;
  table.seconds[2][3] += 0.4;
  EXPECT_TRUE(FindOutliers(table, {}).found.empty());
}

// On a machine with other work every rank has such iterations now and then; no chance gives one of
// four so many more of them.
TEST(OutliersTest, WhatComesBackIsFoundAmongHiccupsOfAll) {
  OutlierTable table = Noise(4, 60, 0.005, 5);
  for (std::size_t i = 0; i < 60; i += 3) table.seconds[2][i] += 0.4;
  table.seconds[0][7] += 0.5;
  table.seconds[1][31] += 0.6;
  table.seconds[3][44] += 0.4;
  const Outliers outliers = FindOutliers(table, {});
  ASSERT_FALSE(outliers.found.empty());
  EXPECT_EQ(outliers.found[0].entity, 2u);
  EXPECT_EQ(outliers.found[0].shows, 20u);
  for (const Outlier& each : outliers.found) EXPECT_TRUE(each.entity == 2 || each.single);
}

TEST(OutliersTest, HiccupsOfAllNameNobody) {
  std::size_t named = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    OutlierTable table = Noise(4 + seed % 5, 60, 0.005, seed);
    std::mt19937 random(seed);
    for (auto& row : table.seconds) {
      for (double& value : row) value += random() % 8 == 0 ? 0.4 : 0;
    }
    named += FindOutliers(table, {}).found.empty() ? 0 : 1;
  }
  EXPECT_EQ(named, 0u);
}

TEST(OutliersTest, OneHiccupIsSingleAndSaidSo) {
  OutlierTable table = Noise(16, 12, 0.005, 3);
  table.seconds[3][4] += 0.4;
  const Outliers outliers = FindOutliers(table, {});
  ASSERT_EQ(outliers.found.size(), 1u);
  EXPECT_TRUE(outliers.found[0].single);
}

TEST(OutliersTest, TwoAtOnce) {
  OutlierTable table = Noise(16, 4, 0.005, 4);
  for (const std::size_t e : {2, 9}) {
    for (double& value : table.seconds[e]) value += 0.2;
  }
  const Outliers outliers = FindOutliers(table, {});
  ASSERT_EQ(outliers.found.size(), 2u);
}

TEST(OutliersTest, OfTwoItIsNotToldWhoIsWrong) {
  OutlierTable table = Noise(2, 10, 0.005, 5);
  for (double& value : table.seconds[1]) value *= 2;
  EXPECT_TRUE(FindOutliers(table, {}).found.empty());
}

TEST(OutliersTest, RolesAreComparedWithinThemselves) {
  OutlierTable table = Noise(8, 5, 0.005, 6);
  for (std::size_t e = 4; e < 8; ++e) {
    table.role[e] = 1;
    for (double& value : table.seconds[e]) value *= 3;
  }
  EXPECT_TRUE(FindOutliers(table, {}).found.empty());
}

TEST(OutliersTest, ValuesThatAreNotKnownAreNoExcess) {
  OutlierTable table = Noise(6, 5, 0.005, 7);
  table.seconds[0].assign(5, std::nan(""));
  table.seconds[1][2] = std::nan("");
  EXPECT_TRUE(FindOutliers(table, {}).found.empty());
  EXPECT_TRUE(FindOutliers({}, {}).found.empty());
}

}  // namespace
}  // namespace fathom::diagnosis
