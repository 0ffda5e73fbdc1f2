#include "diagnosis/stats/interval_set.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fathom::diagnosis {
namespace {

TEST(IntervalSet, MergesNestedAndOverlapping) {
  IntervalSet set;
  set.Add(0, 10);
  set.Add(2, 5);
  set.Add(8, 12);
  set.Add(20, 21);
  set.Add(30, 30);
  set.Add(40, 35);
  set.Seal();
  ASSERT_EQ(set.stretches().size(), 2);
  EXPECT_EQ(set.Covered(0, 100), 13);
  EXPECT_EQ(set.Covered(), 13);
  EXPECT_EQ(set.Covered(5, 11), 6);
  EXPECT_EQ(set.Covered(12, 20), 0);
  EXPECT_EQ(set.Covered(11, 5), 0);
}

TEST(IntervalSet, LeavesOutAnother) {
  IntervalSet set, other;
  set.Add(0, 10);
  set.Add(20, 30);
  other.Add(2, 3);
  other.Add(8, 22);
  other.Add(40, 50);
  set.Seal();
  other.Seal();
  EXPECT_EQ(set.Without(other).Covered(0, 100), 2 + 5 + 8);
  EXPECT_EQ(set.Without(set).Covered(0, 100), 0);
  EXPECT_EQ(set.Without({}).Covered(0, 100), 20);
}

// Against counting every unit, with more stretches than one merge takes.
TEST(IntervalSet, AgreesWithCounting) {
  std::mt19937 random(7);
  IntervalSet set;
  std::vector<bool> covered(100'000);
  for (int i = 0; i < 20'000; ++i) {
    const int begin = static_cast<int>(random() % 99'000);
    const int length = static_cast<int>(random() % 6);
    set.Add(begin, begin + length);
    for (int t = begin; t < begin + length; ++t) covered[static_cast<std::size_t>(t)] = true;
  }
  set.Seal();
  for (int i = 0; i < 100; ++i) {
    const int begin = static_cast<int>(random() % 99'000);
    const int end = begin + static_cast<int>(random() % 1000);
    std::int64_t count = 0;
    for (int t = begin; t < end; ++t) count += covered[static_cast<std::size_t>(t)];
    EXPECT_EQ(set.Covered(begin, end), count);
  }
}

}  // namespace
}  // namespace fathom::diagnosis
