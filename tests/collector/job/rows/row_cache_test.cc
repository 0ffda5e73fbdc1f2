#include "collector/job/rows/row_cache.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

diagnosis::RankRows Ops(std::size_t count) {
  diagnosis::RankRows rows;
  rows.ops.resize(count);
  return rows;
}

TEST(RowCacheTest, WithoutPreferenceTheOldestIterationLeavesFirst) {
  RowCache cache(100);
  for (std::int64_t i = 0; i < 4; ++i) cache.Put(RankId(1), i, Ops(30));
  EXPECT_FALSE(cache.Has(RankId(1), 0));
  EXPECT_TRUE(cache.Has(RankId(1), 1));
  EXPECT_EQ(cache.rows(), 93u);
}

TEST(RowCacheTest, AnotherBoundHoldsAtOnce) {
  RowCache cache(100);
  for (std::int64_t i = 0; i < 3; ++i) cache.Put(RankId(1), i, Ops(30));
  cache.Limit(50);
  EXPECT_EQ(cache.rows(), 31u);
  EXPECT_TRUE(cache.Has(RankId(1), 2)) << "the newest stays";
  cache.Limit(10);
  EXPECT_EQ(cache.rows(), 31u) << "however much it is";
  cache.Limit(100);
  for (std::int64_t i = 3; i < 5; ++i) cache.Put(RankId(1), i, Ops(30));
  EXPECT_EQ(cache.rows(), 93u);
}

TEST(RowCacheTest, WhoIsNoLongerWantedLeavesBeforeTheBaselineDoes) {
  RowCache cache(100);
  cache.Prefer({RankId(1), RankId(2)}, {}, Iteration(-1));
  for (std::int64_t i = 0; i < 2; ++i) cache.Put(RankId(1), i, Ops(20));
  for (std::int64_t i = 0; i < 2; ++i) cache.Put(RankId(2), i, Ops(20));
  cache.Prefer({RankId(1), RankId(3)}, {}, Iteration(-1));
  for (std::int64_t i = 0; i < 2; ++i) cache.Put(RankId(3), i, Ops(20));
  for (std::int64_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(cache.Has(RankId(1), i) && cache.Has(RankId(3), i)) << i;
    EXPECT_FALSE(cache.Has(RankId(2), i)) << i;
  }
  EXPECT_EQ(cache.rows(), 84u);
}

TEST(RowCacheTest, AnIterationWithoutRowsIsNotKept) {
  RowCache cache(100);
  cache.Prefer({RankId(1)}, {}, Iteration(-1));
  cache.Put(RankId(2), 5, Ops(60));
  cache.Put(RankId(1), 6, Ops(60));
  EXPECT_FALSE(cache.HasIteration(5));
  EXPECT_TRUE(cache.HasIteration(6));
}

TEST(RowCacheTest, TheBoundHoldsWhereAllAreWanted) {
  RowCache cache(100);
  cache.Prefer({RankId(1), RankId(2)}, {}, Iteration(-1));
  for (std::int64_t i = 0; i < 8; ++i) {
    for (std::uint32_t r = 1; r <= 2; ++r) cache.Put(RankId(r), i, Ops(20));
    EXPECT_LE(cache.rows(), 100u);
  }
  EXPECT_TRUE(cache.Has(RankId(1), 7) && cache.Has(RankId(2), 7));
}

// Iterations of so many ops that not all that is wanted finds room.
TEST(RowCacheTest, SomeOfTheBaselineStaysWhateverComes) {
  std::vector<Iteration> wanted;
  for (std::int64_t i = 0; i < 20; ++i) wanted.emplace_back(100 + i);
  RowCache cache(1000);
  cache.Prefer({RankId(1)}, wanted, Iteration(108));
  for (const Iteration iteration : wanted) cache.Put(RankId(1), iteration.value, Ops(100));
  std::size_t before = 0, since = 0;
  for (const Iteration iteration : wanted) {
    if (cache.Has(RankId(1), iteration.value)) ++(iteration.value < 108 ? before : since);
  }
  EXPECT_GE(before, 4u);
  EXPECT_GE(since, 4u);
}

TEST(RowCacheTest, AnIterationThatIsNoLongerWantedLeavesFirst) {
  RowCache cache(100);
  for (const std::int64_t i : {1, 2, 3}) cache.Put(RankId(1), i, Ops(30));
  cache.Prefer({RankId(1)}, {Iteration(1), Iteration(3), Iteration(4)}, Iteration(3));
  cache.Put(RankId(1), 4, Ops(30));
  EXPECT_FALSE(cache.Has(RankId(1), 2));
  EXPECT_TRUE(cache.Has(RankId(1), 1) && cache.Has(RankId(1), 3) && cache.Has(RankId(1), 4));
}

}  // namespace
}  // namespace fathom::collector
