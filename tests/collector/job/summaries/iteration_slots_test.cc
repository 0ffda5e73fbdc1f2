#include "collector/job/summaries/iteration_slots.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

TEST(IterationSlots, TheOldestMakesRoom) {
  IterationSlots slots(4);
  for (std::int64_t i = 10; i < 14; ++i) EXPECT_EQ(slots.Claim(i)->evicted, -1);
  EXPECT_EQ(slots.Claim(14)->evicted, 10);
  EXPECT_FALSE(slots.Find(10));
  EXPECT_EQ(slots.newest(), 14);
  EXPECT_EQ(slots.Sorted(), (std::vector<std::int64_t>{11, 12, 13, 14}));
}

TEST(IterationSlots, RefusesWhatIsOlderThanAllOfThem) {
  IterationSlots slots(3);
  for (std::int64_t i = 10; i < 13; ++i) slots.Claim(i);
  EXPECT_FALSE(slots.Claim(5));
  EXPECT_EQ(slots.Sorted(), (std::vector<std::int64_t>{10, 11, 12}));
}

TEST(IterationSlots, TakesALateOneThatIsStillInRange) {
  IterationSlots slots(3);
  slots.Claim(10);
  slots.Claim(12);
  EXPECT_TRUE(slots.Claim(11));
  EXPECT_EQ(slots.Claim(13)->evicted, 10);
}

TEST(IterationSlots, PinnedOnesStay) {
  IterationSlots slots(6);
  for (std::int64_t i = 0; i < 6; ++i) slots.Claim(i);
  slots.Pin(1, 3);
  for (std::int64_t i = 6; i < 30; ++i) ASSERT_TRUE(slots.Claim(i));
  EXPECT_EQ(slots.Sorted(), (std::vector<std::int64_t>{1, 2, 3, 27, 28, 29}));
  slots.Unpin();
  EXPECT_EQ(slots.Claim(30)->evicted, 1);
}

TEST(IterationSlots, PinsNeverTakeMoreThanHalf) {
  IterationSlots slots(6);
  for (std::int64_t i = 0; i < 6; ++i) slots.Claim(i);
  slots.Pin(0, 5);
  for (std::int64_t i = 6; i < 20; ++i) ASSERT_TRUE(slots.Claim(i));
  EXPECT_EQ(slots.Sorted(), (std::vector<std::int64_t>{3, 4, 5, 17, 18, 19}));
}

TEST(IterationSlots, FewerKeepThePinnedOnes) {
  IterationSlots slots(8);
  for (std::int64_t i = 0; i < 8; ++i) slots.Claim(i);
  slots.Pin(0, 3);
  for (std::int64_t i = 8; i < 30; ++i) slots.Claim(i);  // 0 to 3, 26 to 29
  std::vector<std::int64_t> leave;
  IterationSlots fewer = slots.Fewer(6, leave);
  EXPECT_EQ(fewer.Sorted(), (std::vector<std::int64_t>{1, 2, 3, 27, 28, 29}));
  EXPECT_EQ(leave, (std::vector<std::int64_t>{0, 26}));
  ASSERT_TRUE(fewer.Claim(30));
  EXPECT_EQ(fewer.Sorted(), (std::vector<std::int64_t>{1, 2, 3, 28, 29, 30}));
}

}  // namespace
}  // namespace fathom::collector
