#include "collector/job/summaries/summary_window.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fathom/v1/summary.pb.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

BatchShape Shape(std::uint32_t rank, std::int64_t first, int count) {
  BatchShape shape;
  shape.rank = rank;
  shape.first = first;
  shape.count = count;
  shape.anchor = 1000 + static_cast<std::uint64_t>(first) * 5;
  return shape;
}

TEST(SummaryWindow, GivesBackWhatCameIn) {
  SummaryWindow window;
  window.Add(Batch(Shape(1, 0, 3)));
  window.Add(Batch(Shape(0, 0, 3)));
  const auto view = window.View();
  ASSERT_EQ(view.size(), 3u);
  EXPECT_EQ(view[2].index, Iteration(2));
  ASSERT_EQ(view[0].ranks.size(), 2u);
  const auto& row = view[1].ranks[0];
  EXPECT_EQ(row.rank, RankId(0));
  EXPECT_EQ(row.duration, Nanos(100'000'000));
  EXPECT_EQ(row.begin, MonoNs(50'100'000'000));
  EXPECT_NEAR(row.cpu.Millis(), 50, 0.02);
  ASSERT_EQ(row.groups.size(), 1u);
  EXPECT_EQ(row.groups[0].group, GroupId(kWorldGroup));
  EXPECT_EQ(row.groups[0].count, 5u);
  EXPECT_NEAR(row.groups[0].elapsed.Millis(), 20, 0.01);
}

TEST(SummaryWindow, WhatFewRanksHaveIsKeptOfThem) {
  SummaryWindow window;
  window.Add(Batch(Shape(0, 0, 3)));
  v1::SummaryBatch waiting = Batch(Shape(1, 0, 3));
  for (const std::uint32_t us : {10'000, 0, 30'000}) waiting.add_device_wait_us(us);
  for (const std::uint64_t elements : {5'200ull, 0ull, 1ull << 40}) {
    waiting.add_batch_elements(elements);
  }
  window.Add(waiting);
  const auto view = window.View();
  EXPECT_NEAR(view[0].ranks[1].device_wait.Millis(), 10, 0.01);
  EXPECT_EQ(view[1].ranks[1].device_wait, Nanos());
  EXPECT_NEAR(static_cast<double>(view[0].ranks[1].batch_elements), 5'200, 2);
  EXPECT_EQ(view[1].ranks[1].batch_elements, 0u);
  EXPECT_GE(view[2].ranks[1].batch_elements, 1ull << 31) << "what is larger is cut";
  EXPECT_NEAR(view[2].ranks[1].device_wait.Millis(), 30, 0.01);
  EXPECT_EQ(view[2].ranks[0].device_wait, Nanos());
  EXPECT_EQ(window.BytesOf(RankId(1)),
            window.BytesOf(RankId(0)) + sizeof(std::vector<int>) + 12 * window.slots());
}

TEST(SummaryWindow, GivesBackWhatRanBesideComputing) {
  SummaryWindow window;
  v1::SummaryBatch batch = Batch(Shape(0, 0, 2));
  const std::uint32_t blocked = batch.blocked_us(0);
  const std::uint32_t own = batch.duration_us(0) - blocked;
  ASSERT_GT(blocked, 0u);
  for (const std::uint32_t us : {blocked / 2, 0U}) batch.add_unsure_us(us);
  for (const std::uint32_t us : {own / 2, 0U}) batch.add_beside_us(us);
  for (const std::uint32_t us : {blocked * 2, 0U}) batch.add_leading_us(us);
  window.Add(batch);
  const auto view = window.View();
  const diagnosis::RankIteration& first = view[0].ranks[0];
  EXPECT_NEAR(first.unsure.Millis(), blocked / 2e3, 0.01);
  EXPECT_NEAR(first.beside.Millis(), own / 2e3, 0.02);
  EXPECT_EQ(first.leading, first.unsure) << "it is one of those ops";
  EXPECT_EQ(view[1].ranks[0].beside, Nanos());
}

TEST(SummaryWindow, GivesBackOperationsAndVoidTime) {
  SummaryWindow window;
  v1::SummaryBatch batch = Batch(Shape(0, 0, 3));
  for (const std::uint32_t us : {40'000, 0, 10'000}) batch.add_void_between_us(us);
  for (const std::uint32_t us : {5'000, 0, 1'000}) batch.add_void_within_us(us);
  v1::FlopColumn& column = *batch.add_flop();
  column.set_flop_class(static_cast<std::uint32_t>(FlopClass::kFp16));
  for (const float flop : {3e9F, 0.0F, 5e15F}) column.add_flop(flop);
  v1::FlopColumn& unknown = *batch.add_flop();  // a class that a newer agent knows
  unknown.set_flop_class(77);
  for (int i = 0; i < 3; ++i) unknown.add_flop(1e9F);
  window.Add(batch);
  const auto view = window.View();
  EXPECT_NEAR(view[0].ranks[0].void_between.Millis(), 40, 0.02);
  EXPECT_NEAR(view[0].ranks[0].void_within.Millis(), 5, 0.01);
  EXPECT_NEAR(view[0].ranks[0].mega_flop, 3000, 1);
  EXPECT_NEAR(view[0].flop[static_cast<std::size_t>(FlopClass::kFp16)], 3e9, 1e3);
  EXPECT_EQ(view[1].ranks[0].mega_flop, 0u);
  EXPECT_GE(view[2].ranks[0].mega_flop, 3'900'000'000u) << "what is larger is cut";
  const auto parts = window.PartsAfter(-1);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_NEAR(parts[0].second.void_between_s, 0.04, 1e-4);
  EXPECT_EQ(parts[0].second.void_known, 1);
  EXPECT_EQ(parts[1].second.void_known, 0);
  EXPECT_EQ(parts[1].second.flop_known, 0);
  EXPECT_NEAR(parts[2].second.flop[static_cast<std::size_t>(FlopClass::kFp16)], 5e15, 1e10);
}

// Iterations of a few milliseconds leave the slots before anybody has looked.
TEST(SummaryWindow, WhereIterationsWentIsKeptBeyondTheSlots) {
  SummaryWindow window;
  const int many = static_cast<int>(window.slots()) + 30;
  for (int i = 0; i < many; ++i) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) window.Add(Batch(Shape(rank, i, 1)));
  }
  const auto parts = window.PartsAfter(-1);
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(many));
  for (int i = 0; i < many; ++i) EXPECT_EQ(parts[static_cast<std::size_t>(i)].first, i);
  EXPECT_NEAR(parts[0].second.duration_s, 0.1, 1e-9);
  EXPECT_EQ(window.PartsAfter(many - 5).size(), 4u);
}

TEST(SummaryWindow, AnIterationIsWholeOnceAllRanksReportedIt) {
  SummaryWindow window;
  EXPECT_EQ(window.whole(), -1);
  for (std::uint32_t r = 0; r < 3; ++r) window.Add(Batch(Shape(r, 0, 2)));
  EXPECT_EQ(window.whole(), 1);
  window.Add(Batch(Shape(2, 2, 2)));
  window.Add(Batch(Shape(0, 2, 1)));
  window.Add(Batch(Shape(0, 2, 1)));
  EXPECT_EQ(window.whole(), 1) << "a repeat is no report of another rank";
  window.Add(Batch(Shape(1, 2, 1)));
  EXPECT_EQ(window.whole(), 2);
  EXPECT_EQ(window.newest(), 3);
  window.Clear();
  EXPECT_EQ(window.whole(), -1);
}

// Rank `rank` issued three ops so long before their start.
v1::SummaryBatch WithIssued(std::uint32_t rank, int bucket) {
  v1::SummaryBatch batch = Batch(Shape(rank, 0, 2));
  for (int i = 0; i < 2; ++i) {
    for (int b = 0; b < static_cast<int>(kIssueBuckets); ++b) batch.add_issued(b == bucket ? 3 : 0);
  }
  return batch;
}

TEST(SummaryWindow, IssueLatencyIsThatOfAllRanks) {
  SummaryWindow window;
  window.Add(WithIssued(0, 2));
  window.Add(WithIssued(1, 6));
  window.Add(WithIssued(1, 9));  // a repeat
  const auto view = window.View();
  EXPECT_EQ(view[1].issued.ops(), 6u);
  EXPECT_EQ(view[1].issued.counts[6], 3u);
  const auto parts = window.PartsAfter(-1);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_FLOAT_EQ(parts[0].second.issued[2], 0.5F);
}

TEST(SummaryWindow, AgentsThatDoNotTellOfDevicesLeaveThemUnknown) {
  SummaryWindow window;
  window.Add(Batch(Shape(0, 0, 2)));
  EXPECT_FALSE(window.View()[0].issued.known());
}

TEST(SummaryWindow, RepeatsChangeNothing) {
  SummaryWindow window;
  window.Add(Batch(Shape(0, 0, 3)));
  auto again = Shape(0, 1, 4);
  again.duration_us = 7;
  const auto added = window.Add(Batch(again));
  EXPECT_EQ(added.rows, 2);
  EXPECT_EQ(added.repeats, 2);
  EXPECT_EQ(window.View()[1].ranks[0].duration, Nanos(100'000'000));
}

TEST(SummaryWindow, RanksThatCountDifferentlyAreAligned) {
  SummaryWindow window;
  window.Add(Batch(Shape(0, 4, 3)));  // anchors 1020, 1025, 1030
  auto other = Shape(1, 0, 2);
  other.anchor = 1025;
  window.Add(Batch(other));
  const auto view = window.View();
  ASSERT_EQ(view.size(), 3u);
  EXPECT_EQ(view[0].ranks.size(), 1u);
  EXPECT_EQ(view[1].ranks.size(), 2u);
  EXPECT_EQ(window.OwnIteration(RankId(1), 5), 0);
  EXPECT_EQ(window.JobIteration(RankId(1), 1), 6);
}

TEST(SummaryWindow, KeepsOnsetAndBaselineWhileAnEpisodeIsOpen) {
  SummaryWindow window;
  for (int i = 0; i < 40; ++i) window.Add(Batch(Shape(0, i, 1)));
  window.Pin(38);
  for (int i = 40; i < 400; ++i) window.Add(Batch(Shape(0, i, 1)));
  const auto view = window.View();
  ASSERT_GE(view.size(), 40u);
  EXPECT_EQ(view.front().index, Iteration(26));
  EXPECT_EQ(view[17].index, Iteration(43));
  EXPECT_EQ(view.back().index, Iteration(399));
}

TEST(SummaryWindow, LateAndWaitComeFromTheMembersOfTheGroup) {
  SummaryWindow window;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    auto shape = Shape(rank, 0, 1);
    shape.elapsed_us = rank == 2 ? 1'000 : 21'000;  // rank 2 came last: it waited least
    window.Add(Batch(shape));
  }
  const auto heat = window.Heat({0});
  ASSERT_EQ(heat[0].size(), 4u);
  EXPECT_NEAR(static_cast<double>(heat[0][2].late_us), 20'000, 10);
  EXPECT_EQ(heat[0][2].wait_us, 0u);
  EXPECT_EQ(heat[0][1].late_us, 0u);
  EXPECT_NEAR(static_cast<double>(heat[0][1].wait_us), 20'000, 10);
}

TEST(SummaryWindow, OlderIterationsAreRememberedForDisplay) {
  SummaryWindow window;
  for (int i = 0; i < 250; ++i) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      auto shape = Shape(rank, i, 1);
      if (i == 10) shape.elapsed_us = rank == 0 ? 500'000 : 20'000;
      if (i != 20 || rank == 0) window.Add(Batch(shape));
    }
  }
  const auto heat = window.Heat({10, 20, 400});
  EXPECT_NEAR(static_cast<double>(heat[0][1].late_us), 480'000, 0.05 * 480'000);
  EXPECT_TRUE(heat[1][0].present);
  EXPECT_FALSE(heat[1][1].present) << "rank 1 did not report iteration 20";
  EXPECT_FALSE(heat[2][0].present);
  const auto strip = window.Strip(-1, 1000);
  EXPECT_EQ(strip.size(), 250u);
  EXPECT_EQ(strip[10].duration, Nanos(100'000'000));
  EXPECT_EQ(window.Strip(200, 10).front().iteration, 240);
}

TEST(SummaryWindow, MoreCommunicatorsMeanFewerIterationsNotMoreMemory) {
  SummaryWindow window;
  for (int i = 0; i < 60; ++i) window.Add(Batch(Shape(0, i, 1)));
  const std::size_t slots = window.slots();
  auto batch = Batch(Shape(0, 60, 1));
  for (std::uint64_t g = 1; g < 20; ++g) {
    *batch.add_groups() = batch.groups(0);
    batch.mutable_groups(static_cast<int>(g))->set_group(1000 + g);
  }
  window.Add(batch);
  EXPECT_LT(window.slots(), slots);
  EXPECT_EQ(window.View().back().index, Iteration(60));
  EXPECT_EQ(window.View().back().ranks[0].groups.size(), kMaxGroupColumnsPerRank);
  for (int i = 61; i < 500; ++i) window.Add(Batch(Shape(0, i, 1)));
  EXPECT_LT(window.BytesOf(RankId(0)), kMaxBytesPerRank);
}

// A communicator made for the first evaluation, say, while the job is slow.
TEST(SummaryWindow, ANewCommunicatorDoesNotTakeTheBaselineOfAnEpisode) {
  SummaryWindow window;
  for (int i = 0; i < 210; ++i) window.Add(Batch(Shape(0, i, 1)));
  window.Pin(200);
  for (int i = 210; i < 400; ++i) window.Add(Batch(Shape(0, i, 1)));
  auto batch = Batch(Shape(0, 400, 1));
  for (std::uint64_t g = 1; g < 4; ++g) {
    *batch.add_groups() = batch.groups(0);
    batch.mutable_groups(static_cast<int>(g))->set_group(1000 + g);
  }
  window.Add(batch);
  const auto view = window.View();
  const auto pinned = std::count_if(view.begin(), view.end(), [](const auto& it) {
    return it.index >= Iteration(188) && it.index < Iteration(200);
  });
  EXPECT_GE(pinned, 8);
  EXPECT_EQ(view.back().index, Iteration(400));
}

TEST(SummaryWindow, AnAbsurdJumpIsRejected) {
  SummaryWindow window;
  window.Add(Batch(Shape(0, 0, 3)));
  auto far = Shape(0, 1'000'000'000, 1);
  EXPECT_EQ(window.Add(Batch(far)).rejected, RejectReason::kBadNumber);
  EXPECT_EQ(window.newest(), 2);
}

TEST(SummaryWindow, DurationsAreHandedOutOnceAndWhenComplete) {
  SummaryWindow window;
  window.Add(Batch(Shape(0, 0, 5)));
  EXPECT_EQ(window.TakeCompleted(false).size(), 3u);
  EXPECT_EQ(window.TakeCompleted(false).size(), 0u);
  EXPECT_EQ(window.TakeCompleted(true).size(), 2u);
}

}  // namespace
}  // namespace fathom::collector
