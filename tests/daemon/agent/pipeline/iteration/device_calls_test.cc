#include "daemon/agent/pipeline/iteration/device_calls.h"

#include <gtest/gtest.h>

#include "daemon/abi/device_calls.h"

namespace fathom::agent {
namespace {

abi::EventRecord Record(abi::RecordKind kind, std::int64_t time_ns, std::uint32_t thread = 1) {
  abi::EventRecord record = {};
  record.record_kind = static_cast<std::uint8_t>(kind);
  record.time_ns = time_ns;
  record.thread_id = thread;
  return record;
}

abi::EventRecord Calls(const abi::DeviceCalls& calls) {
  abi::EventRecord record = Record(abi::RecordKind::kDeviceCalls, 1);
  abi::PackDeviceCalls(calls, record);
  return record;
}

TEST(DeviceCallSumsTest, TheTimedCallsSpeakForAll) {
  DeviceCallSums sums;
  sums.Take(
      Calls({.launches = 300, .copies = 20, .graphs = 1, .sampled = 10, .sampled_ns = 50'000}));
  EXPECT_EQ(sums.totals().launches, 301u);
  EXPECT_EQ(sums.totals().launch_ns, 321 * 5'000);
  sums.Take(Calls({.launches = 2}));  // none was timed: the mean so far
  EXPECT_EQ(sums.totals().launch_ns, 323 * 5'000);
}

TEST(DeviceCallSumsTest, ACallThatBlockedCountsWithItsOwnLength) {
  DeviceCallSums sums;
  sums.Take(Calls({.launches = 100,
                   .sampled = 5,
                   .sampled_ns = 2'000'000 + 4 * 5'000,
                   .longest_ns = 2'000'000}));
  EXPECT_EQ(sums.totals().launch_ns, 100 * 5'000);
  abi::EventRecord begin = Record(abi::RecordKind::kSyncStart, 1'000);
  abi::EventRecord end = Record(abi::RecordKind::kSyncEnd, 2'001'000);
  begin.extra = end.extra = static_cast<std::uint64_t>(abi::SyncKind::kLaunch);
  sums.Take(begin);
  sums.Take(end);
  EXPECT_EQ(sums.totals().launch_ns, 100 * 5'000 + 2'000'000);
  EXPECT_EQ(sums.totals().waiting_ns, 0);
}

TEST(DeviceCallSumsTest, GarbageMakesLongSumsAndNoOverflow) {
  DeviceCallSums sums;
  for (int i = 0; i < 3; ++i) {
    sums.Take(Calls({.launches = ~0u, .sampled = 1, .sampled_ns = ~0u, .longest_ns = 0}));
  }
  EXPECT_EQ(sums.totals().launch_ns, std::int64_t{1} << 61);
}

TEST(DeviceCallSumsTest, WaitsArePairedByThread) {
  DeviceCallSums sums;
  const auto wait = [](abi::RecordKind kind, std::int64_t time_ns, std::uint32_t thread) {
    abi::EventRecord record = Record(kind, time_ns, thread);
    record.extra = static_cast<std::uint64_t>(abi::SyncKind::kStream);
    return record;
  };
  sums.Take(wait(abi::RecordKind::kSyncEnd, 50, 1));  // its begin was lost
  sums.Take(wait(abi::RecordKind::kSyncStart, 100, 1));
  sums.Take(wait(abi::RecordKind::kSyncStart, 150, 2));
  sums.Take(wait(abi::RecordKind::kSyncEnd, 400, 1));
  sums.Take(wait(abi::RecordKind::kSyncEnd, 160, 2));
  EXPECT_EQ(sums.totals().waiting_ns, 310);
}

}  // namespace
}  // namespace fathom::agent
