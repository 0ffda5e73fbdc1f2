#include "collector/import/kineto/record_join.h"

#include <gtest/gtest.h>

namespace fathom::collector::kineto {
namespace {

using diagnosis::CommOp;
using diagnosis::EnteredOp;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

// Calls each 10 ms, named by a guess that is wrong; entries of two groups, before and within them.
Recording Guessed(std::int64_t clock_error = 0) {
  Recording recording;
  GroupOf(recording, "0").guessed = true;
  GroupOf(recording, "1").guessed = true;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    diagnosis::RankRecord record;
    record.rank = RankId(rank);
    for (int i = -5; i < 20; ++i) {
      EnteredOp entry;
      entry.group = GroupIdOfName(i % 2 == 0 ? "0" : "1");
      entry.sequence = Sequence(static_cast<std::uint64_t>(i + 5) / 2);
      entry.kind = CollectiveKind::kAllReduce;
      entry.created = WallNs(kStart + i * 10 * kMs + 50'000 + clock_error);
      record.ops.push_back(entry);
    }
    recording.view.records.push_back(record);
    auto& ops = recording.view.rows[RankId(rank)].ops;
    for (int i = 0; i < 20; ++i) {
      CommOp op;
      op.group = GroupIdOfName("0");
      op.sequence = Sequence(900 + static_cast<std::uint64_t>(i));
      op.kind = CollectiveKind::kAllReduce;
      op.enter = MonoNs(kStart + i * 10 * kMs);
      op.api_return = MonoNs(kStart + i * 10 * kMs + 100'000);
      ops.push_back(op);
    }
    CommOp message = ops.front();
    message.kind = CollectiveKind::kSend;
    message.sequence = kNoSequence;
    ops.insert(ops.begin() + 3, message);
  }
  return recording;
}

// A window of calls 0 to 5 and one of 12 to 19: the dump lists what ran between them too.
TEST(RecordJoin, FindsEachWindowOfTheProfiler) {
  Recording recording = Guessed();
  for (auto& [rank, rows] : recording.view.rows) {
    int call = 0;
    for (CommOp& op : rows.ops) {
      op.iteration = Iteration(op.kind == CollectiveKind::kSend ? 0 : call++ / 2);
    }
    std::erase_if(rows.ops, [](const CommOp& op) {
      return op.iteration.value >= 3 && op.iteration.value < 6;
    });
  }
  JoinRecords(recording);
  for (const auto& [rank, rows] : recording.view.rows) {
    EXPECT_EQ(rows.ops.back().group, GroupIdOfName("1"));
    EXPECT_EQ(rows.ops.back().sequence, Sequence(12));
    EXPECT_EQ(rows.ops.front().group, GroupIdOfName("0"));
    EXPECT_EQ(rows.ops.front().sequence, Sequence(2));
  }
}

TEST(RecordJoin, TakesGroupAndSequenceFromTheDump) {
  Recording recording = Guessed();
  JoinRecords(recording);
  const auto& ops = recording.view.rows.at(RankId(1)).ops;
  EXPECT_EQ(ops[0].group, GroupIdOfName("0"));
  EXPECT_EQ(ops[0].sequence, Sequence(2));
  EXPECT_EQ(ops[1].group, GroupIdOfName("1"));
  EXPECT_EQ(ops[3].kind, CollectiveKind::kSend) << "messages have no entry and are left alone";
  EXPECT_EQ(ops[3].group, GroupIdOfName("0"));
  EXPECT_EQ(ops[4].group, GroupIdOfName("1"));
  EXPECT_FALSE(recording.view.groups[0].guessed);
}

TEST(RecordJoin, KeepsTheGuessWhereTheDumpIsOfAnotherRun) {
  Recording recording = Guessed(/*clock_error=*/3600 * 1000 * kMs);
  JoinRecords(recording);
  EXPECT_EQ(recording.view.rows.at(RankId(0)).ops[1].group, GroupIdOfName("0"));
  EXPECT_EQ(recording.view.rows.at(RankId(0)).ops[1].sequence, Sequence(901));
  ASSERT_EQ(recording.notes.size(), 1);
}

TEST(RecordJoin, KeepsTheGuessWhereKindsDisagree) {
  Recording recording = Guessed();
  for (auto& entry : recording.view.records[0].ops) entry.kind = CollectiveKind::kBroadcast;
  JoinRecords(recording);
  EXPECT_EQ(recording.view.rows.at(RankId(0)).ops[0].sequence, Sequence(900));
}

// Sequences of a dump and made-up ones must never stand side by side in one group.
TEST(RecordJoin, JoinsAllRanksOrNone) {
  Recording recording = Guessed();
  recording.view.records.pop_back();
  JoinRecords(recording);
  EXPECT_EQ(recording.view.rows.at(RankId(0)).ops[0].sequence, Sequence(900));
}

TEST(RecordJoin, ForgetsOpsOlderThanTheDump) {
  Recording recording = Guessed();
  for (auto& record : recording.view.records) {
    record.ops.erase(record.ops.begin(), record.ops.begin() + 6);  // a ring that was too small
  }
  JoinRecords(recording);
  const auto& ops = recording.view.rows.at(RankId(0)).ops;
  EXPECT_EQ(ops[0].group, GroupId());
  EXPECT_EQ(ops[0].sequence, kNoSequence);
  EXPECT_EQ(ops[1].group, GroupIdOfName("1"));
}

TEST(RecordJoin, DoesNothingWithoutDumps) {
  Recording recording = Guessed();
  recording.view.records.clear();
  JoinRecords(recording);
  EXPECT_TRUE(recording.notes.empty());
  EXPECT_TRUE(recording.view.groups[0].guessed);
}

}  // namespace
}  // namespace fathom::collector::kineto
