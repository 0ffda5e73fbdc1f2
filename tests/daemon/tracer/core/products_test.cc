#include "daemon/tracer/core/products.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "daemon/abi/products.h"
#include "daemon/tracer/core/device_calls.h"
#include "tests/daemon/tracer/ring_reader.h"

namespace fathom::tracer {
namespace {

using abi::RecordKind;

class ProductsTest : public testing::Test {
 protected:
  ProductsTest() : memory_(abi::RegionBytes(abi::kMinRecords) / 8) {
    auto* base = reinterpret_cast<std::uint8_t*>(memory_.data());
    Region& region = state_->region;
    region.header = reinterpret_cast<abi::RegionHeader*>(base);
    region.control = reinterpret_cast<abi::ControlBlock*>(base + abi::kControlOffset);
    region.records = reinterpret_cast<abi::EventRecord*>(base + abi::kRecordsOffset);
    region.slot_mask = abi::kMinRecords - 1;
    thread_state = ThreadState{};
  }
  std::vector<abi::EventRecord> All() const {
    std::vector<abi::EventRecord> all;
    abi::EventRecord record;
    for (std::uint64_t t = 0;
         tracer_test::ReadRecord(state_->region.records, abi::kMinRecords - 1, t, &record); ++t) {
      all.push_back(record);
    }
    return all;
  }

  std::vector<std::uint64_t> memory_;
  std::unique_ptr<TracerState> state_ = std::make_unique<TracerState>();
};

TEST_F(ProductsTest, OperationsOfAProduct) {
  EXPECT_EQ(FlopOfProduct(8, 16, 32), 8192u);
  EXPECT_EQ(FlopOfProduct(8, 16, 32, 3), 3 * 8192u);
  EXPECT_EQ(FlopOfProduct(8, 0, 32), 0u);
  EXPECT_EQ(FlopOfProduct(8, -1, 32, -3), 0u);
}

TEST_F(ProductsTest, AStretchIsOneRecord) {
  const std::int64_t begin = NowNs();
  NoteProduct(*state_, FlopClass::kFp32, 100, begin);
  NoteProduct(*state_, FlopClass::kFp32, 50, NowNs());
  EXPECT_TRUE(All().empty());
  FlushDeviceCalls(*state_, NowNs());
  const auto all = All();
  ASSERT_EQ(all.size(), 1u) << "no record of CUDA calls, of which there were none";
  const abi::Products told = UnpackProducts(all[0]);
  EXPECT_EQ(all[0].record_kind, static_cast<std::uint8_t>(RecordKind::kProducts));
  EXPECT_EQ(told.flop, 150u);
  EXPECT_EQ(told.count, 2u);
  EXPECT_LE(told.since_end_ns, told.since_begin_ns);
  EXPECT_LE(told.busy_ns, told.since_begin_ns - told.since_end_ns);
  FlushDeviceCalls(*state_, NowNs());
  EXPECT_EQ(All().size(), 1u);
}

TEST_F(ProductsTest, ALongerGapBeginsAnother) {
  NoteProduct(*state_, FlopClass::kFp32, 100, NowNs());
  NoteProduct(*state_, FlopClass::kFp32, 50, NowNs() + abi::kStretchGapNs);
  ASSERT_EQ(All().size(), 1u);
  EXPECT_EQ(UnpackProducts(All()[0]).flop, 100u);
}

TEST_F(ProductsTest, ClassesAreToldApartAndCudaCallsBesideThem) {
  NoteProduct(*state_, FlopClass::kFp32, 100, NowNs());
  NoteProduct(*state_, FlopClass::kFp64, 7, NowNs());
  NoteDeviceProduct(*state_, FlopClass::kFp16, 9);
  CountDeviceCall<DeviceCall::kLaunch>(*state_);
  FlushDeviceCalls(*state_, NowNs());
  const auto all = All();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(
      UnpackProducts(all[0]),
      (abi::Products{FlopClass::kFp64, 7, 2, UnpackProducts(all[0]).busy_ns,
                     UnpackProducts(all[0]).since_begin_ns, UnpackProducts(all[0]).since_end_ns}));
  EXPECT_EQ(UnpackProducts(all[1]), (abi::Products{FlopClass::kFp32, 100}));
  EXPECT_EQ(UnpackProducts(all[2]), (abi::Products{FlopClass::kFp16, 9}));
  EXPECT_EQ(all[2].flags, abi::kFlagDevice);
  EXPECT_EQ(all[3].record_kind, static_cast<std::uint8_t>(RecordKind::kDeviceCalls));
  EXPECT_EQ(abi::UnpackDeviceCalls(all[3]).launches, 1u);
}

TEST_F(ProductsTest, WhatGoesIntoAGraphDoesNotRunNow) {
  thread_state.device.capturing = 1;
  NoteDeviceProduct(*state_, FlopClass::kFp16, 9);
  EXPECT_EQ(thread_state.device.calls, 0u);
}

TEST_F(ProductsTest, ManyCallsAreWrittenWithoutAnOp) {
  for (std::uint32_t i = 0; i < kFlushCalls; ++i) NoteDeviceProduct(*state_, FlopClass::kFp16, 2);
  ASSERT_EQ(All().size(), 1u);
  EXPECT_EQ(UnpackProducts(All()[0]).flop, 2u * kFlushCalls);
}

}  // namespace
}  // namespace fathom::tracer
