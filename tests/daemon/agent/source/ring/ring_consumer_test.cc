#include "daemon/agent/source/ring/ring_consumer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using fakes::RecordOf;
using fakes::RingFolder;
using fakes::RingWriter;

constexpr std::int64_t kNow = 1'000'000'000'000;

class RingConsumerTest : public testing::Test {
 protected:
  RingConsumerTest() : writer_(folder_.path(), {}), region_(*RegionReader::Open(writer_.path())) {}

  abi::EventRecord Enter(std::uint64_t op_id) {
    return RecordOf({.op_id = op_id, .sequence = op_id}, abi::RecordKind::kOpEnter,
                    static_cast<std::int64_t>(op_id));
  }
  std::vector<std::uint64_t> Drain(std::int64_t now = kNow, bool last_call = false,
                                   std::uint64_t limit = 1 << 20) {
    std::vector<std::uint64_t> ids;
    const auto moved = consumer_.Drain(region_.ReadHead().value(), now, limit, last_call,
                                       [&](std::span<const abi::EventRecord> records) {
                                         for (const auto& record : records)
                                           ids.push_back(record.op_id);
                                       });
    EXPECT_TRUE(moved.ok()) << moved.status();
    return ids;
  }

  RingFolder folder_;
  RingWriter writer_;
  RegionReader region_;
  RingConsumer consumer_{region_};
};

TEST_F(RingConsumerTest, AnEmptyRingGivesNothing) {
  EXPECT_TRUE(Drain().empty());
  EXPECT_EQ(consumer_.counters().total, 0u);
}

TEST_F(RingConsumerTest, HandsOverRecordsInTicketOrderOnce) {
  for (std::uint64_t i = 1; i <= 5; ++i) writer_.Write(Enter(i));
  EXPECT_EQ(Drain(), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(Drain().empty());
  writer_.Write(Enter(6));
  EXPECT_EQ(Drain(), (std::vector<std::uint64_t>{6}));
  EXPECT_EQ(consumer_.counters().valid, 6u);
  EXPECT_EQ(consumer_.counters().last_time_ns, 6u);
}

TEST_F(RingConsumerTest, GoesRoundTheEndOfTheRing) {
  std::uint64_t next = 1;
  for (int lap = 0; lap < 5; ++lap) {
    std::vector<std::uint64_t> want;
    for (int i = 0; i < 700; ++i) {
      want.push_back(next);
      writer_.Write(Enter(next++));
    }
    EXPECT_EQ(Drain(), want);
  }
  EXPECT_EQ(consumer_.counters().lost, 0u);
}

TEST_F(RingConsumerTest, OverwrittenRecordsAreCountedAsLost) {
  const std::uint64_t written = abi::kMinRecords * 3 + 10;
  for (std::uint64_t i = 1; i <= written; ++i) writer_.Write(Enter(i));
  const auto ids = Drain();
  ASSERT_EQ(ids.size(), abi::kMinRecords);
  EXPECT_EQ(ids.front(), written - abi::kMinRecords + 1);
  EXPECT_EQ(ids.back(), written);
  EXPECT_EQ(consumer_.counters().lost, written - abi::kMinRecords);
}

TEST_F(RingConsumerTest, WaitsForARecordThatIsBeingWrittenAndKeepsOrder) {
  writer_.Write(Enter(1));
  writer_.WriteHalf();
  writer_.Write(Enter(2));
  EXPECT_EQ(Drain(), (std::vector<std::uint64_t>{1}));
  EXPECT_TRUE(Drain(kNow + RingConsumer::kTornAfterNs - 1).empty());
  EXPECT_EQ(consumer_.counters().torn, 0u);
}

TEST_F(RingConsumerTest, GivesUpATornRecordAfterAWhileAndCountsIt) {
  writer_.WriteHalf();
  writer_.Write(Enter(1));
  writer_.WriteHalf();
  writer_.Write(Enter(2));
  EXPECT_TRUE(Drain().empty());
  EXPECT_EQ(Drain(kNow + RingConsumer::kTornAfterNs), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(consumer_.counters().torn, 2u);
}

TEST_F(RingConsumerTest, ATornRecordOfADeadProcessIsGivenUpAtOnce) {
  writer_.WriteHalf();
  writer_.Write(Enter(1));
  EXPECT_EQ(Drain(kNow, true), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(consumer_.counters().torn, 1u);
}

TEST_F(RingConsumerTest, ARecordThatCompletesLateIsRead) {
  writer_.WriteHalf();
  EXPECT_TRUE(Drain().empty());
  abi::EventRecord record = Enter(9);
  record.commit = 1;
  writer_.records()[0] = record;
  EXPECT_EQ(Drain(kNow + 1), (std::vector<std::uint64_t>{9}));
  EXPECT_EQ(consumer_.counters().torn, 0u);
}

TEST_F(RingConsumerTest, GarbageRecordsAreCountedNotHandedOver) {
  abi::EventRecord bad = Enter(1);
  bad.collective_kind = 200;
  writer_.Write(bad);
  bad = Enter(2);
  bad.record_kind = 99;
  writer_.Write(bad);
  writer_.Write(Enter(3));
  EXPECT_EQ(Drain(), (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(consumer_.counters().invalid, 1u);
  EXPECT_EQ(consumer_.counters().unknown_kind, 1u);
  EXPECT_EQ(consumer_.counters().total, 3u);
}

TEST_F(RingConsumerTest, AnAbsurdHeadEndsAfterOneLap) {
  writer_.control().head.store(~std::uint64_t{0} - 5);
  EXPECT_TRUE(Drain(kNow, true).empty());
  EXPECT_EQ(consumer_.counters().torn, abi::kMinRecords);
  EXPECT_TRUE(Drain(kNow, true).empty());
}

TEST_F(RingConsumerTest, AHeadThatGoesBackIsIgnored) {
  writer_.Write(Enter(1));
  Drain();
  writer_.control().head.store(0);
  EXPECT_TRUE(Drain().empty());
  EXPECT_EQ(consumer_.counters().lost, 0u);
}

TEST_F(RingConsumerTest, StopsNearTheLimit) {
  for (std::uint64_t i = 1; i <= 1000; ++i) writer_.Write(Enter(i));
  EXPECT_GE(Drain(kNow, false, 10).size(), 10u);
}

// Four writers, one reader that falls behind at times: nothing is read that was not written, every
// record is read once, lost or torn, and none with mixed halves.
TEST(RingConsumerStressTest, ManyWritersNeverMixARecord) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  RegionReader region = *RegionReader::Open(writer.path());
  RingConsumer consumer(region, 1);
  constexpr std::uint64_t kEach = 50'000;
  constexpr std::uint64_t kWriters = 4;
  std::atomic<std::uint64_t> running{kWriters};
  std::vector<std::thread> threads;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      for (std::uint64_t i = 1; i <= kEach; ++i) {
        const std::uint64_t id = w * kEach + i;
        abi::EventRecord r = RecordOf({.op_id = id, .sequence = id, .bytes = id},
                                      abi::RecordKind::kOpEnter, static_cast<std::int64_t>(id));
        r.extra = id;
        writer.Write(r);
      }
      --running;
    });
  }
  std::set<std::uint64_t> seen;
  std::uint64_t mixed = 0;
  const auto sink = [&](std::span<const abi::EventRecord> records) {
    for (const auto& r : records) {
      mixed += r.op_id != r.bytes || r.op_id != r.sequence || r.op_id != r.extra ||
               r.op_id != static_cast<std::uint64_t>(r.time_ns);
      mixed += !seen.insert(r.op_id).second;
    }
  };
  while (running > 0) {
    ASSERT_TRUE(consumer.Drain(*region.ReadHead(), kNow, 512, false, sink).ok());
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(consumer.Drain(*region.ReadHead(), kNow, 1 << 20, true, sink).ok());
  EXPECT_EQ(mixed, 0u);
  const RingCounters& counted = consumer.counters();
  EXPECT_EQ(counted.invalid, 0u);
  EXPECT_EQ(seen.size() + counted.lost + counted.torn, kEach * kWriters);
}

}  // namespace
}  // namespace fathom::agent
