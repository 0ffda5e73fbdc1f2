#include "daemon/tracer/core/ring/ring_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/daemon/tracer/ring_reader.h"

namespace fathom::tracer {
namespace {

// A region in ordinary memory.
class RingWriterTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kRecords = 1024;

  RingWriterTest() : control_(std::make_unique<abi::ControlBlock>()), records_(kRecords) {
    region_.control = control_.get();
    region_.records = records_.data();
    region_.slot_mask = kRecords - 1;
  }

  bool Read(std::uint64_t ticket, abi::EventRecord* out) const {
    return tracer_test::ReadRecord(records_.data(), kRecords - 1, ticket, out);
  }

  // All words of a record say the same, so a mixed record shows.
  static abi::EventRecord Marked(std::uint64_t mark) {
    abi::EventRecord record = {};
    record.time_ns = static_cast<std::int64_t>(mark);
    record.op_id = record.sequence = record.bytes = record.extra = mark;
    return record;
  }
  static bool IsWhole(const abi::EventRecord& r) {
    return r.op_id == r.sequence && r.op_id == r.bytes && r.op_id == r.extra &&
           r.op_id == static_cast<std::uint64_t>(r.time_ns);
  }

  Region region_;
  std::unique_ptr<abi::ControlBlock> control_;
  std::vector<abi::EventRecord> records_;
};

TEST_F(RingWriterTest, WritesWhatItWasGiven) {
  abi::EventRecord record = Marked(7);
  record.thread_id = 1;
  record.record_kind = 2;
  record.flags = 3;
  record.group_slot = 4;
  record.peer = 5;
  ASSERT_TRUE(AppendRecord(region_, record));
  abi::EventRecord read;
  ASSERT_TRUE(Read(0, &read));
  EXPECT_EQ(read.commit, 1u);
  EXPECT_EQ(read.thread_id, 1u);
  EXPECT_EQ(read.record_kind, 2u);
  EXPECT_EQ(read.flags, 3u);
  EXPECT_EQ(read.group_slot, 4u);
  EXPECT_EQ(read.peer, 5u);
  EXPECT_TRUE(IsWhole(read));
}

TEST_F(RingWriterTest, OverwritesTheOldest) {
  for (std::uint64_t i = 0; i < kRecords + 10; ++i) ASSERT_TRUE(AppendRecord(region_, Marked(i)));
  abi::EventRecord read;
  EXPECT_FALSE(Read(9, &read));
  ASSERT_TRUE(Read(10, &read));
  EXPECT_EQ(read.op_id, 10u);
  ASSERT_TRUE(Read(kRecords + 9, &read));
  EXPECT_EQ(read.op_id, kRecords + 9);
}

TEST_F(RingWriterTest, GivesUpASlotThatAnotherWriterIsIn) {
  for (std::uint64_t i = 0; i < kRecords; ++i) AppendRecord(region_, Marked(i));
  records_[0].commit = 0;  // a writer of the first lap sleeps in the middle of its record
  EXPECT_FALSE(AppendRecord(region_, Marked(99)));
  EXPECT_EQ(records_[0].op_id, 0u) << "its bytes must not be touched";
  EXPECT_TRUE(AppendRecord(region_, Marked(100))) << "the next slot is free";
}

TEST_F(RingWriterTest, GivesUpASlotThatIsNewerThanItsTicket) {
  records_[0].commit = kRecords + 1;  // the lap after has been here
  EXPECT_FALSE(AppendRecord(region_, Marked(1)));
  EXPECT_EQ(records_[0].commit, kRecords + 1);
}

TEST_F(RingWriterTest, CountsDrops) {
  CountDrop(region_, abi::DropReason::kGroupTableFull, 3);
  EXPECT_EQ(control_->drops[1].load(), 3u);
}

TEST_F(RingWriterTest, ManyWritersNeverMixAndAReaderNeverSeesAMixture) {
  constexpr int kWriters = 4;
  constexpr std::uint64_t kEach = 20'000;
  std::atomic<bool> done{false};
  std::uint64_t torn_reads = 0;
  std::thread reader([&] {
    while (!done.load()) {
      const std::uint64_t head = control_->head.load();
      for (std::uint64_t t = head > kRecords ? head - kRecords : 0; t < head; ++t) {
        abi::EventRecord record;
        if (Read(t, &record) && !IsWhole(record)) ++torn_reads;
      }
    }
  });
  std::vector<std::thread> writers;
  std::atomic<std::uint64_t> given_up{0};
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const bool kept = AppendRecord(region_, Marked(static_cast<std::uint64_t>(w) * kEach + i));
        given_up.fetch_add(kept ? 0 : 1);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done.store(true);
  reader.join();
  EXPECT_EQ(torn_reads, 0u);
  EXPECT_EQ(control_->head.load(), kWriters * kEach);
  std::uint64_t whole = 0;
  for (std::uint64_t t = kWriters * kEach - kRecords; t < kWriters * kEach; ++t) {
    abi::EventRecord record;
    if (Read(t, &record)) {
      EXPECT_TRUE(IsWhole(record));
      ++whole;
    }
  }
  EXPECT_GE(whole + given_up.load(), kRecords);
}

}  // namespace
}  // namespace fathom::tracer
