#include "daemon/agent/pipeline/op_log.h"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

OpRow Done(std::int64_t enter) {
  OpRow row;
  row.enter_ns = enter;
  row.end_ns = enter + 1;
  return row;
}

TEST(OpLogTest, NumbersNeverChange) {
  OpLog log({.max_rows = 3});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(log.Add(Done(i + 1)), static_cast<std::uint64_t>(i));
  EXPECT_EQ(log.first(), 2u);
  EXPECT_EQ(log.next(), 5u);
  EXPECT_EQ(log.Find(1), nullptr);
  ASSERT_NE(log.Find(4), nullptr);
  EXPECT_EQ(log.Find(4)->enter_ns, 5);
  EXPECT_EQ(log.Find(5), nullptr);
}

TEST(OpLogTest, DropsOldRowsButNotAnOpenOne) {
  OpLog log({.max_age_ns = 100});
  log.Add(Done(10));
  OpRow open;
  open.enter_ns = 20;
  log.Add(open);
  log.Add(Done(30));
  log.DropOld(500);
  EXPECT_EQ(log.first(), 1u);
  log.At(1).end_ns = 400;
  log.DropOld(500);
  EXPECT_TRUE(log.empty());
}

TEST(OpLogTest, KeepsAtLeastAsLongAsIsAskedFor) {
  OpLog log({.max_age_ns = 100});
  for (int i = 1; i <= 10; ++i) log.Add(Done(i * 100));
  log.DropOld(1000, 500);
  EXPECT_EQ(log.At(log.first()).enter_ns, 500);
  log.DropOld(1000, 50);
  EXPECT_EQ(log.At(log.first()).enter_ns, 900);
}

TEST(OpLogTest, MarksAreBoundedByCountAndAge) {
  OpLog log({.max_marks = 2, .max_age_ns = 100});
  for (int i = 1; i <= 3; ++i) log.AddMark({.begin_ns = i * 100});
  EXPECT_EQ(log.marks().size(), 2u);
  log.DropOld(350);
  EXPECT_EQ(log.marks().size(), 1u);
}

}  // namespace
}  // namespace fathom::agent
