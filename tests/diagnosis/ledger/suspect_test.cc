#include "diagnosis/ledger/suspect.h"

#include <gtest/gtest.h>

#include <set>

namespace fathom::diagnosis {
namespace {

// Of the iterations that are known it shows in `shows`.
AccountShare Dated(const std::set<std::int64_t>& shows, const std::set<std::int64_t>& known) {
  Outlier outlier;
  std::vector<Iteration> iterations;
  for (const std::int64_t number : known) {
    iterations.emplace_back(number);
    outlier.in.push_back(shows.contains(number));
  }
  AccountShare share;
  DateShare(outlier, iterations, share);
  return share;
}

std::set<std::int64_t> From(std::int64_t first, std::int64_t last, std::int64_t step = 1) {
  std::set<std::int64_t> out;
  for (std::int64_t i = first; i <= last; i += step) out.insert(i);
  return out;
}

TEST(DateShareTest, TellsThePeriod) {
  for (const std::int64_t period : {2, 3, 5, 10, 20}) {
    const AccountShare share = Dated(From(period, 64, period), From(0, 64));
    EXPECT_EQ(share.every, period);
    EXPECT_EQ(share.since.value, period);
  }
}

TEST(DateShareTest, AHiccupOrOneThatIsHiddenEndsNoPeriod) {
  std::set<std::int64_t> shows = From(0, 60, 5);
  shows.insert(33);
  shows.erase(40);
  EXPECT_EQ(Dated(shows, From(0, 64)).every, 5);
}

TEST(DateShareTest, FewKnownIterationsBetweenMakeNoShorterPeriod) {
  std::set<std::int64_t> known = From(10, 60, 10);
  for (const std::int64_t number : From(11, 61, 10)) known.insert(number);
  EXPECT_EQ(Dated(From(10, 60, 10), known).every, 10);
}

TEST(DateShareTest, WhereNothingIsKnownBetweenNothingRests) {
  EXPECT_EQ(Dated(From(10, 60, 6), From(10, 60, 6)).every, 0);
}

TEST(DateShareTest, WhatComesAtRandomHasNone) {
  EXPECT_EQ(Dated({3, 9, 11, 24, 31, 32, 50}, From(0, 64)).every, 0);
  EXPECT_EQ(Dated({3, 9}, From(0, 64)).every, 0);
}

TEST(DateShareTest, FromTheStartIfNoneWasDueBefore) {
  EXPECT_TRUE(Dated(From(8, 60, 10), From(0, 64)).from_start);
  EXPECT_FALSE(Dated(From(28, 60, 10), From(0, 64)).from_start);
}

}  // namespace
}  // namespace fathom::diagnosis
