#include "proto/packing/pack_ops.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "proto/packing/unpack_ops.h"

namespace fathom {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Iterations of a rank as a real one has them: buckets that overlap, waited for at once, and a
// small op at the end, each time a little different.
v1::RankRows RankOf(std::uint32_t rank, int iterations) {
  std::mt19937 random(rank + 1);
  std::normal_distribution<double> noise(0, 0.3 * kMs);
  v1::RankRows rows;
  rows.set_rank(rank);
  std::int64_t now = 1'000'000 * kMs + 777, cpu = 40'000 * kMs;
  for (int i = 0; i < iterations; ++i) {
    for (int k = 0; k < 3; ++k) {
      now += 12 * kMs + std::abs(static_cast<std::int64_t>(noise(random)));
      cpu += 11 * kMs + std::abs(static_cast<std::int64_t>(noise(random)));
      v1::CommOp& op = *rows.add_ops();
      op.set_op_id(static_cast<std::uint64_t>(3 * i + k));
      op.set_group(0xfeed'0000'0000'0001);
      op.set_sequence(static_cast<std::uint64_t>(3 * i + k + 5));
      op.set_kind(1);
      op.set_data_type(7);
      op.set_bytes(k == 2 ? 4 : 1 << 20);
      op.set_peer(kNone);
      op.set_thread_id(4711);
      op.set_enter_ns(now);
      op.set_return_ns(now + 20'000);
      op.set_exec_start_ns(now + 40'000 + std::abs(static_cast<std::int64_t>(noise(random))));
      op.set_end_ns(op.exec_start_ns() + 2 * kMs +
                    std::abs(static_cast<std::int64_t>(noise(random))));
      op.set_wait_start_ns(now + 30'000);
      op.set_wait_end_ns(op.end_ns() + 15'000);
      op.set_cpu_at_enter_ns(cpu);
      op.set_runqueue_at_enter_ns(kMs);
      op.set_iteration(i);
    }
    v1::Mark& mark = *rows.add_marks();
    mark.set_kind("dataloader");
    mark.set_begin_ns(now + kMs);
    mark.set_end_ns(now + 2 * kMs);
    mark.set_thread_id(4711);
    mark.set_iteration(i);
  }
  return rows;
}

v1::RowsReply JobOf(int ranks, int iterations) {
  v1::RowsReply rows;
  rows.set_job("train");
  for (int rank = 0; rank < ranks; ++rank) {
    *rows.add_ranks() = RankOf(static_cast<std::uint32_t>(rank), iterations);
  }
  return rows;
}

void ExpectNear(std::int64_t packed, std::int64_t told, Nanos unit) {
  EXPECT_EQ(packed == 0, told == 0);
  EXPECT_LT(std::abs(packed - told), unit.count);
}

TEST(PackOps, GivesBackWhatWasPacked) {
  v1::RowsReply rows = JobOf(3, 20);
  v1::CommOp& odd = *rows.mutable_ranks(1)->mutable_ops(7);
  odd.set_sequence(~std::uint64_t{0});
  odd.set_peer(0);
  odd.set_end_ns(0);  // in flight
  odd.set_wait_end_ns(0);
  odd.set_iteration(-1);
  odd.set_failed(true);
  rows.mutable_ranks(1)->mutable_ops(8)->set_hidden(true);
  rows.mutable_ranks(2)->mutable_ops(3)->set_hidden(true);
  odd.set_launches(12);
  odd.set_launch_ns(3);
  odd.set_gpu_wait_ns(5 * kMs);
  odd.set_place_of_peer(3);
  odd.set_group(2);
  rows.mutable_ranks(2)->mutable_marks(0)->set_end_ns(0);  // still open
  rows.mutable_ranks(2)->mutable_marks(1)->set_name("faults:log");

  const v1::OpsBlock block = PackOps(rows, 17);
  EXPECT_EQ(block.job(), "train");
  EXPECT_EQ(block.serial(), 17u);
  EXPECT_EQ(block.rows(), 180u);
  ASSERT_EQ(block.ranks_size(), 3);
  const auto back = UnpackOps(block);
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->ranks_size(), 3);
  for (int r = 0; r < 3; ++r) {
    const v1::RankRows &told = rows.ranks(r), &got = back->ranks(r);
    EXPECT_EQ(got.rank(), told.rank());
    ASSERT_EQ(got.ops_size(), told.ops_size());
    for (int i = 0; i < told.ops_size(); ++i) {
      const v1::CommOp &a = told.ops(i), &b = got.ops(i);
      ExpectNear(b.enter_ns(), a.enter_ns(), kPackedTime);
      ExpectNear(b.return_ns(), a.return_ns(), kPackedTime);
      ExpectNear(b.exec_start_ns(), a.exec_start_ns(), kPackedTime);
      ExpectNear(b.end_ns(), a.end_ns(), kPackedTime);
      ExpectNear(b.wait_start_ns(), a.wait_start_ns(), kPackedTime);
      ExpectNear(b.wait_end_ns(), a.wait_end_ns(), kPackedTime);
      ExpectNear(b.cpu_at_enter_ns(), a.cpu_at_enter_ns(), kPackedCpu);
      ExpectNear(b.runqueue_at_enter_ns(), a.runqueue_at_enter_ns(), kPackedCpu);
      ExpectNear(b.launch_ns(), a.launch_ns(), kPackedTime);
      ExpectNear(b.gpu_wait_ns(), a.gpu_wait_ns(), kPackedTime);
      v1::CommOp rest = b;  // all that is not a time is as it was
      rest.set_enter_ns(a.enter_ns());
      rest.set_return_ns(a.return_ns());
      rest.set_exec_start_ns(a.exec_start_ns());
      rest.set_end_ns(a.end_ns());
      rest.set_wait_start_ns(a.wait_start_ns());
      rest.set_wait_end_ns(a.wait_end_ns());
      rest.set_cpu_at_enter_ns(a.cpu_at_enter_ns());
      rest.set_runqueue_at_enter_ns(a.runqueue_at_enter_ns());
      rest.set_launch_ns(a.launch_ns());
      rest.set_gpu_wait_ns(a.gpu_wait_ns());
      EXPECT_EQ(rest.SerializeAsString(), a.SerializeAsString());
    }
    ASSERT_EQ(got.marks_size(), told.marks_size());
    for (int i = 0; i < told.marks_size(); ++i) {
      const v1::Mark &a = told.marks(i), &b = got.marks(i);
      ExpectNear(b.begin_ns(), a.begin_ns(), kPackedTime);
      ExpectNear(b.end_ns(), a.end_ns(), kPackedTime);
      EXPECT_EQ(b.kind(), a.kind());
      EXPECT_EQ(b.name(), a.name());
      EXPECT_EQ(b.iteration(), a.iteration());
    }
  }
}

TEST(PackOps, NoOrderOfTwoMomentsIsTurnedAround) {
  const v1::RowsReply rows = JobOf(1, 200);
  const auto back = UnpackOps(PackOps(rows, 1));
  ASSERT_TRUE(back.ok());
  for (const v1::CommOp& op : back->ranks(0).ops()) {
    EXPECT_LE(op.enter_ns(), op.wait_start_ns());
    EXPECT_LE(op.exec_start_ns(), op.end_ns());
    EXPECT_LE(op.end_ns(), op.wait_end_ns());
  }
}

TEST(PackOps, AnOpTakesFewBytes) {
  const v1::OpsBlock block = PackOps(JobOf(4, 50), 1);
  const double bytes = static_cast<double>(block.ByteSizeLong()) / block.rows();
  RecordProperty("bytes_an_op", std::to_string(bytes));
  EXPECT_LT(bytes, 16) << "times of 0.3 ms of noise each, six of them";
}

TEST(PackOps, WhatIsBrokenIsRefusedAndNothingIsReadBeyondIt) {
  const v1::OpsBlock whole = PackOps(JobOf(2, 10), 1);
  v1::OpsBlock block = whole;
  block.set_raw_bytes(kMaxPackedBytes + 1);
  EXPECT_FALSE(UnpackOps(block).ok());
  block = whole;
  block.set_raw_bytes(block.raw_bytes() - 1);
  EXPECT_FALSE(UnpackOps(block).ok());
  for (std::size_t i = 0; i < whole.columns().size(); ++i) {
    block = whole;
    (*block.mutable_columns())[i] = static_cast<char>(~whole.columns()[i]);
    EXPECT_FALSE(UnpackOps(block).ok()) << "byte " << i << ": the frame has a checksum";
  }
}

v1::OpsBlock BlockOf(const v1::OpColumns& columns) {
  const std::string raw = columns.SerializeAsString();
  std::string stored(ZSTD_compressBound(raw.size()), '\0');
  stored.resize(ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), 1));
  v1::OpsBlock block;
  block.set_raw_bytes(static_cast<std::uint32_t>(raw.size()));
  block.set_columns(stored);
  return block;
}

TEST(PackOps, ColumnsThatDoNotFitTogetherAreRefused) {
  v1::OpColumns columns;
  columns.set_time_ns(1000);
  columns.set_cpu_ns(1000);
  v1::RankPart& part = *columns.add_parts();
  part.set_ops(1);
  EXPECT_FALSE(UnpackOps(BlockOf(columns)).ok()) << "an op without columns";
  columns.add_shape(0), columns.add_op_id(0), columns.add_sequence(0), columns.add_iteration(0);
  columns.add_enter(5);
  EXPECT_FALSE(UnpackOps(BlockOf(columns)).ok()) << "a shape that is not there";
  columns.add_shapes();
  EXPECT_TRUE(UnpackOps(BlockOf(columns)).ok());
  columns.add_end(1), columns.add_end(1);
  EXPECT_FALSE(UnpackOps(BlockOf(columns)).ok()) << "two ends";
  columns.clear_end();
  part.set_ops(~std::uint32_t{0});
  EXPECT_FALSE(UnpackOps(BlockOf(columns)).ok());
  part.set_ops(1);
  columns.set_time_ns(0);
  EXPECT_FALSE(UnpackOps(BlockOf(columns)).ok()) << "no unit";
}

}  // namespace
}  // namespace fathom
