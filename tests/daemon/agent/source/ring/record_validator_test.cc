#include "daemon/agent/source/ring/record_validator.h"

#include <gtest/gtest.h>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using abi::RecordKind;
using fakes::RecordOf;

constexpr std::int64_t kNow = 10'000'000'000;

abi::EventRecord Good(RecordKind kind) {
  abi::EventRecord r = RecordOf({.op_id = 1, .work = 0x55}, kind, 100);
  if (kind == RecordKind::kMark) r.extra = 1;
  return r;
}

TEST(RecordValidatorTest, BelievesEveryKindAsTheTracerWritesIt) {
  for (const RecordKind kind :
       {RecordKind::kOpEnter, RecordKind::kOpReturn, RecordKind::kExecStart, RecordKind::kExecEnd,
        RecordKind::kWaitStart, RecordKind::kWaitEnd, RecordKind::kWire, RecordKind::kMark}) {
    EXPECT_EQ(ValidateRecord(Good(kind), kNow), RecordVerdict::kValid) << static_cast<int>(kind);
  }
}

TEST(RecordValidatorTest, ARecordKindOfANewerTracerIsToldApart) {
  abi::EventRecord r = Good(RecordKind::kOpEnter);
  r.record_kind = abi::kRecordKindCount;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kUnknownKind);
  r.record_kind = 0;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kBadField);
}

TEST(RecordValidatorTest, ChecksEachFieldOfAnOp) {
  const auto spoiled = [](auto change) {
    abi::EventRecord r = Good(RecordKind::kOpEnter);
    change(r);
    return ValidateRecord(r, kNow);
  };
  EXPECT_EQ(spoiled([](auto& r) { r.collective_kind = kCollectiveKindCount; }),
            RecordVerdict::kBadField);
  EXPECT_EQ(spoiled([](auto& r) { r.data_type = 13; }), RecordVerdict::kBadField);
  EXPECT_EQ(spoiled([](auto& r) { r.group_slot = abi::kGroupSlots; }), RecordVerdict::kBadField);
  EXPECT_EQ(spoiled([](auto& r) { r.group_slot = abi::kNoGroupSlot; }), RecordVerdict::kValid);
  EXPECT_EQ(spoiled([](auto& r) { r.op_id = 0; }), RecordVerdict::kBadField);
  EXPECT_EQ(spoiled([](auto& r) { r.time_ns = 0; }), RecordVerdict::kBadField);
  EXPECT_EQ(spoiled([](auto& r) { r.time_ns = -5; }), RecordVerdict::kBadField);
  EXPECT_EQ(spoiled([](auto& r) { r.time_ns = kNow + 2'000'000'000; }), RecordVerdict::kBadField);
  EXPECT_EQ(spoiled([](auto& r) { r.time_ns = kNow + 500'000'000; }), RecordVerdict::kValid);
}

TEST(RecordValidatorTest, ChecksWhatATracerTellsOfAGpu) {
  abi::EventRecord r = {};
  r.time_ns = 100;
  r.record_kind = static_cast<std::uint8_t>(RecordKind::kSyncEnd);
  r.extra = static_cast<std::uint64_t>(abi::SyncKind::kLaunch);
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kValid);
  r.extra = abi::kSyncKindCount;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kBadField);
  r.record_kind = static_cast<std::uint8_t>(RecordKind::kDeviceCalls);
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kValid);
  r.op_id = 7;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kBadField);
}

TEST(RecordValidatorTest, ClocksOfOthersTellNumbersToReckonWith) {
  for (const RecordKind kind : {RecordKind::kOpEnter, RecordKind::kGpuStart, RecordKind::kGpuEnd}) {
    // A thread's time on a core goes on to the collector, which takes less.
    const int bits = kind == RecordKind::kOpEnter ? 61 : 62;
    const std::uint64_t far = (std::uint64_t{1} << bits) + 1;
    abi::EventRecord r = Good(kind);
    r.op_id = 1;
    r.bytes = 1;
    r.extra = far - 1;
    EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kValid) << static_cast<int>(kind);
    r.extra = far;
    EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kBadField) << static_cast<int>(kind);
  }
  abi::EventRecord r = Good(RecordKind::kOpEnter);
  r.flags = abi::kFlagDevice;  // then it is a stream's key
  r.extra = ~std::uint64_t{0};
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kValid);
}

TEST(RecordValidatorTest, AWorkerRecordMustNameItsOp) {
  abi::EventRecord r = Good(RecordKind::kExecEnd);
  r.op_id = 0;
  r.extra = 0;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kBadField);
  r.op_id = 3;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kValid);
}

TEST(RecordValidatorTest, AWaitForAllNeedsNoOp) {
  abi::EventRecord r = Good(RecordKind::kWaitStart);
  r.op_id = 0;
  r.extra = 0;
  r.flags = abi::kFlagWaitAll;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kValid);
}

TEST(RecordValidatorTest, AGpuRecordMustNameItsOpAndEndAfterItBegan) {
  abi::EventRecord r = Good(RecordKind::kGpuEnd);
  r.op_id = 1;
  r.bytes = 1'000;
  r.extra = 2'000;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kValid);
  r.bytes = 3'000;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kBadField);
  r.extra = 0;  // the plugin was told when it began and not when it ended
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kValid);
  r = Good(RecordKind::kGpuStart);
  r.op_id = 0;
  EXPECT_EQ(ValidateRecord(r, kNow), RecordVerdict::kBadField);
}

}  // namespace
}  // namespace fathom::agent
