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

OpRow Of(std::uint32_t thread, std::int64_t wait_start, std::int64_t wait_end) {
  OpRow row = Done(10);
  row.thread_id = thread;
  row.wait_start_ns = wait_start;
  row.wait_end_ns = wait_end;
  return row;
}

TEST(OpLogTest, TheNewestOpOfAThreadMayStillBeAwaited) {
  OpLog log({});
  for (const OpRow& row : {Of(1, 11, 12), Of(2, 11, 0), Of(1, 11, 0)}) log.Add(row);
  EXPECT_EQ(log.FirstAwaited(0, 3), 1u);
  EXPECT_EQ(log.FirstAwaited(2, 3), 2u);
  EXPECT_EQ(log.FirstAwaited(0, 1), 1u);
  log.At(1).wait_end_ns = 13;
  EXPECT_EQ(log.FirstAwaited(0, 3), 2u);
  log.At(2).wait_end_ns = 13;
  EXPECT_EQ(log.FirstAwaited(0, 3), 3u);
}

TEST(OpLogTest, WhatEnteredAnotherOpWaitsNoMore) {
  OpLog log({});
  for (const OpRow& row : {Of(1, 11, 0), Of(1, 0, 0), Of(2, 11, 12)}) log.Add(row);
  EXPECT_EQ(log.FirstAwaited(0, 3), 3u);
  EXPECT_EQ(log.FirstAwaited(0, 1), 1u);
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
