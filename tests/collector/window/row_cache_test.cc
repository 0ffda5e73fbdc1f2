#include "collector/window/row_cache.h"

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

TEST(RowCacheTest, WhoIsNoLongerWantedLeavesBeforeTheBaselineDoes) {
  RowCache cache(100);
  cache.Prefer({RankId(1), RankId(2)});
  for (std::int64_t i = 0; i < 2; ++i) cache.Put(RankId(1), i, Ops(20));
  for (std::int64_t i = 0; i < 2; ++i) cache.Put(RankId(2), i, Ops(20));
  cache.Prefer({RankId(1), RankId(3)});
  for (std::int64_t i = 0; i < 2; ++i) cache.Put(RankId(3), i, Ops(20));
  for (std::int64_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(cache.Has(RankId(1), i) && cache.Has(RankId(3), i)) << i;
    EXPECT_FALSE(cache.Has(RankId(2), i)) << i;
  }
  EXPECT_EQ(cache.rows(), 84u);
}

TEST(RowCacheTest, AnIterationWithoutRowsIsNotKept) {
  RowCache cache(100);
  cache.Prefer({RankId(1)});
  cache.Put(RankId(2), 5, Ops(60));
  cache.Put(RankId(1), 6, Ops(60));
  EXPECT_FALSE(cache.HasIteration(5));
  EXPECT_TRUE(cache.HasIteration(6));
}

TEST(RowCacheTest, TheBoundHoldsWhereAllAreWanted) {
  RowCache cache(100);
  cache.Prefer({RankId(1), RankId(2)});
  for (std::int64_t i = 0; i < 8; ++i) {
    for (std::uint32_t r = 1; r <= 2; ++r) cache.Put(RankId(r), i, Ops(20));
    EXPECT_LE(cache.rows(), 100u);
  }
  EXPECT_TRUE(cache.Has(RankId(1), 7) && cache.Has(RankId(2), 7));
}

}  // namespace
}  // namespace fathom::collector
