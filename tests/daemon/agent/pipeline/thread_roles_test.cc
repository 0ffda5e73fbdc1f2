#include "daemon/agent/pipeline/thread_roles.h"

#include <gtest/gtest.h>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using abi::RecordKind;
using fakes::FakeOp;
using fakes::RecordOf;

constexpr std::uint32_t kMain = 7, kBeat = 9, kBackward = 11, kWorker = 99;
constexpr std::uint16_t kWorld = 0, kBeats = 1, kTensor = 2;

class ThreadRolesTest : public testing::Test {
 protected:
  ThreadRolesTest() { roles_.SetMainThread(kMain); }
  void Call(std::uint32_t thread, std::uint16_t group, std::uint64_t bytes,
            std::uint8_t flags = 0) {
    abi::EventRecord record =
        RecordOf({.group = group, .bytes = bytes, .thread = thread}, RecordKind::kOpEnter, 100);
    record.flags |= flags;
    roles_.Take(record);
  }
  void TrainAndBeat() {
    Call(kMain, kWorld, 1 << 20);
    Call(kBeat, kBeats, 8);
  }

  ThreadRoles roles_;
};

TEST_F(ThreadRolesTest, AHeartbeatOnACommunicatorOfItsOwnIsBeside) {
  TrainAndBeat();
  EXPECT_TRUE(roles_.IsBeside(kBeats));
  EXPECT_FALSE(roles_.IsBeside(kWorld));
  EXPECT_FALSE(roles_.IsBeside(kTensor)) << "nobody has used it";
}

TEST_F(ThreadRolesTest, ItsWorkersRecordsAreBesideWithIt) {
  TrainAndBeat();
  const FakeOp beat{.group = kBeats, .thread = kWorker}, train{.group = kWorld, .thread = kWorker};
  EXPECT_TRUE(roles_.IsBeside(RecordOf(beat, RecordKind::kExecEnd, 100)));
  EXPECT_FALSE(roles_.IsBeside(RecordOf(train, RecordKind::kExecEnd, 100)));
  const FakeOp early{.group = abi::kNoGroupSlot, .thread = kWorker};
  EXPECT_TRUE(roles_.IsBeside(RecordOf(early, RecordKind::kExecStart, 100)))
      << "whose it is, is not known yet";
  const FakeOp waits{.group = abi::kNoGroupSlot, .thread = kMain};
  EXPECT_FALSE(roles_.IsBeside(RecordOf(waits, RecordKind::kWaitStart, 100)));
}

TEST_F(ThreadRolesTest, WhereNobodyIsBesideEverythingCounts) {
  Call(kMain, kWorld, 1 << 20);
  const FakeOp early{.group = abi::kNoGroupSlot, .thread = kWorker};
  EXPECT_FALSE(roles_.IsBeside(RecordOf(early, RecordKind::kExecStart, 100)));
}

TEST_F(ThreadRolesTest, WhoCarriesDataTrains) {
  TrainAndBeat();
  Call(kBackward, kTensor, 1 << 20);
  EXPECT_FALSE(roles_.IsBeside(kTensor));
  Call(kBeat, kBeats, ThreadRoles::kLightBytes + 1);
  EXPECT_FALSE(roles_.IsBeside(kBeats)) << "once is enough";
}

TEST_F(ThreadRolesTest, AnOpWhoseSizeIsNotKnownMayCarryData) {
  Call(kMain, kWorld, 1 << 20);
  Call(kBeat, kBeats, 0, abi::kFlagBytesUnknown);
  EXPECT_FALSE(roles_.IsBeside(kBeats));
}

TEST_F(ThreadRolesTest, WhoSharesACommunicatorWithTheTrainingBelongsToIt) {
  TrainAndBeat();
  Call(kBackward, kWorld, 4);
  Call(kBackward, kTensor, 4);
  EXPECT_FALSE(roles_.IsBeside(kTensor)) << "a loss that the backward thread sums up";
  Call(kMain, kBeats, 8);
  EXPECT_FALSE(roles_.IsBeside(kBeats));
}

TEST_F(ThreadRolesTest, TheMainThreadIsNeverBeside) {
  Call(kBackward, kTensor, 1 << 20);
  Call(kMain, kWorld, 4);
  EXPECT_FALSE(roles_.IsBeside(kWorld));
}

TEST_F(ThreadRolesTest, WithoutDataOrMainThreadNothingIsConcluded) {
  Call(kMain, kWorld, 64);
  Call(kBeat, kBeats, 8);
  EXPECT_FALSE(roles_.IsBeside(kBeats)) << "all of it is small";
  ThreadRoles unknown;
  unknown.Take(
      RecordOf({.group = kWorld, .bytes = 1 << 20, .thread = kMain}, RecordKind::kOpEnter, 100));
  unknown.Take(RecordOf({.group = kBeats, .bytes = 8, .thread = kBeat}, RecordKind::kOpEnter, 100));
  EXPECT_FALSE(unknown.IsBeside(kBeats));
}

TEST_F(ThreadRolesTest, WhereNobodyTellsWhenTheTrainingsOpsEndNoneIsBeside) {
  TrainAndBeat();
  Call(kMain, kWorld, 1 << 20, abi::kFlagDevice);
  EXPECT_FALSE(roles_.IsBeside(kBeats));
  Call(kMain, kWorld, 1 << 20, abi::kFlagDevice | abi::kFlagAsync);
  EXPECT_TRUE(roles_.IsBeside(kBeats));
}

TEST_F(ThreadRolesTest, OfTooManyThreadsNoneIsBeside) {
  TrainAndBeat();
  for (std::uint32_t i = 0; i < ThreadRoles::kMostThreads; ++i) Call(100 + i, kTensor, 8);
  EXPECT_FALSE(roles_.IsBeside(kBeats));
}

TEST_F(ThreadRolesTest, ASlotThatCannotBeIsNobodys) {
  TrainAndBeat();
  Call(kBeat, 60'000, 8);
  EXPECT_FALSE(roles_.IsBeside(60'000));
}

}  // namespace
}  // namespace fathom::agent
