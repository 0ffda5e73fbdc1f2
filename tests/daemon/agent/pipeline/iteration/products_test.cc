#include "daemon/agent/pipeline/iteration/products.h"

#include <gtest/gtest.h>

#include "daemon/abi/products.h"

namespace fathom::agent {
namespace {

constexpr auto kSingle = static_cast<std::size_t>(FlopClass::kFp32);

abi::EventRecord Record(std::int64_t time_ns, const abi::Products& products,
                        std::uint8_t flags = 0) {
  abi::EventRecord record{};
  record.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kProducts);
  record.time_ns = time_ns;
  record.thread_id = 7;
  record.flags = flags;
  abi::PackProducts(products, record);
  return record;
}

TEST(ProductLogTest, SumsWhatWasToldInAStretchOfTime) {
  ProductLog log;
  for (const std::int64_t time : {100, 200, 300}) {
    log.Take(Record(time, {FlopClass::kFp32, 10, 1, 5, 20, 2}));
  }
  EXPECT_EQ(log.Flop(100, 300)[kSingle], 20);
  EXPECT_EQ(log.Flop(0, 100)[kSingle], 10);
  EXPECT_EQ(log.stretches().front().begin_ns, 80);
  EXPECT_EQ(log.stretches().front().end_ns, 98);
  EXPECT_EQ(log.stretches().front().busy_ns, 5);
  log.ForgetBefore(250);
  EXPECT_EQ(log.stretches().size(), 1u);
}

TEST(ProductLogTest, OfAProcessWithAGpuOnlyProductsOnItCount) {
  ProductLog log;
  log.Take(Record(100, {FlopClass::kFp32, 10, 1, 5, 20, 2}));
  EXPECT_EQ(log.Flop(0, 100)[kSingle], 10);
  log.Take(Record(150, {FlopClass::kFp32, 1000}, abi::kFlagDevice));
  EXPECT_EQ(log.Flop(0, 200)[kSingle], 1000);
}

TEST(ProductLogTest, TrustsNoStretchThatEndsBeforeItBegins) {
  ProductLog log;
  log.Take(Record(100, {FlopClass::kFp32, 10, 1, 500, 20, 90}));
  EXPECT_GE(log.stretches().front().end_ns, log.stretches().front().begin_ns);
  EXPECT_EQ(log.stretches().front().busy_ns, 0);
}

TEST(ProductLogTest, IsBounded) {
  ProductLog log;
  for (std::size_t i = 0; i < ProductLog::kMost + 10; ++i) log.Take(Record(100, {}));
  EXPECT_EQ(log.stretches().size(), ProductLog::kMost);
}

}  // namespace
}  // namespace fathom::agent
