#include "daemon/tracer/core/table/address_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace fathom::tracer {
namespace {

class AddressTableTest : public testing::Test {
 protected:
  std::unique_ptr<AddressTable> table_ = std::make_unique<AddressTable>();
};

TEST_F(AddressTableTest, AnswersOnlyBetweenInsertAndRemove) {
  EXPECT_EQ(table_->Lookup(0x1000).op_id, 0u);
  ASSERT_TRUE(table_->Insert(0x1000, {7, 3, 1}));
  const OpRef op = table_->Lookup(0x1000);
  EXPECT_EQ(op.op_id, 7u);
  EXPECT_EQ(op.group_slot, 3u);
  EXPECT_EQ(op.kind, 1u);
  EXPECT_EQ(table_->Lookup(0x1008).op_id, 0u);
  EXPECT_TRUE(table_->Remove(0x1000));
  EXPECT_FALSE(table_->Remove(0x1000));
  EXPECT_EQ(table_->Lookup(0x1000).op_id, 0u);
}

TEST_F(AddressTableTest, AReusedAddressBelongsToItsLatestOp) {
  table_->Insert(0x1000, {7, 0, 1});
  table_->Insert(0x1000, {8, 1, 2});
  EXPECT_EQ(table_->Lookup(0x1000).op_id, 8u);
  table_->Remove(0x1000);
  EXPECT_EQ(table_->Lookup(0x1000).op_id, 0u);
}

TEST_F(AddressTableTest, KeepsTheWidestValuesApart) {
  table_->Insert(0x1000, {(std::uint64_t{1} << 40) - 1, 0xffff, 0xff});
  const OpRef op = table_->Lookup(0x1000);
  EXPECT_EQ(op.op_id, (std::uint64_t{1} << 40) - 1);
  EXPECT_EQ(op.group_slot, 0xffffu);
  EXPECT_EQ(op.kind, 0xffu);
}

TEST_F(AddressTableTest, RefusesWhenABucketIsFullAndRecovers) {
  std::vector<std::uint64_t> kept;
  std::uint64_t address = 0x10000;
  bool refused = false;
  for (std::uint64_t op = 1; op < 10'000 && !refused; ++op, address += 64) {
    refused = !table_->Insert(address, {op, 0, 1});
    if (!refused) kept.push_back(address);
  }
  ASSERT_TRUE(refused);
  EXPECT_GT(kept.size(), 1000u) << "the hash must spread heap addresses";
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(table_->Lookup(kept[i]).op_id, i + 1);
  for (const std::uint64_t each : kept) table_->Remove(each);
  EXPECT_TRUE(table_->Insert(address - 64, {1, 0, 1}));
}

TEST_F(AddressTableTest, WhatIsRemovedHidesNothingBehindIt) {
  constexpr std::uint64_t kMany = 1500;  // three a bucket
  for (std::uint64_t i = 1; i <= kMany; ++i) table_->Insert(i * 64, {i, 0, 1});
  for (std::uint64_t i = 1; i <= kMany; i += 2) table_->Remove(i * 64);
  for (std::uint64_t i = 2; i <= kMany; i += 2) ASSERT_EQ(table_->Lookup(i * 64).op_id, i);
  for (std::uint64_t i = 1; i <= kMany; i += 2) table_->Insert(i * 64, {i, 0, 1});
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    ASSERT_EQ(table_->Lookup(i * 64).op_id, i);
    ASSERT_TRUE(table_->Remove(i * 64));
    ASSERT_EQ(table_->Lookup(i * 64).op_id, 0u) << "it is there twice";
  }
}

TEST_F(AddressTableTest, ThreadsDoNotDisturbOneAnother) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 1; i <= 20'000; ++i) {
        const std::uint64_t address = 0x1000 + (t * 16 + i % 16) * 48;
        if (!table_->Insert(address, {i, static_cast<std::uint16_t>(t), 1})) ++wrong;
        const OpRef op = table_->Lookup(address);
        if (op.op_id != i || op.group_slot != t || !table_->Remove(address)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace fathom::tracer
