#include "daemon/tracer/core/steps.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/tracer/core/group_table.h"
#include "proto/types/collective_kind.h"
#include "tests/daemon/tracer/ring_reader.h"

namespace fathom::tracer {
namespace {

using abi::RecordKind;

// A tracer that is on, in a process that no launcher told of other ranks.
class StepsTest : public testing::Test {
 protected:
  StepsTest() : memory_(abi::RegionBytes(abi::kMinRecords) / 8) {
    auto* base = reinterpret_cast<std::uint8_t*>(memory_.data());
    Region& region = state_->region;
    region.header = reinterpret_cast<abi::RegionHeader*>(base);
    region.control = reinterpret_cast<abi::ControlBlock*>(base + abi::kControlOffset);
    region.groups = reinterpret_cast<abi::GroupSlot*>(base + abi::kGroupsOffset);
    region.arena = base + abi::kArenaOffset;
    region.records = reinterpret_cast<abi::EventRecord*>(base + abi::kRecordsOffset);
    region.slot_mask = abi::kMinRecords - 1;
    state_->epoch = 1;
    state_->sources = abi::kSourcePython;
    state_->phase.store(Phase::kOn);
    tracer_state.store(state_.get());
    thread_state = ThreadState{};
    OnState();
  }
  ~StepsTest() override { tracer_state.store(nullptr); }

  std::uint16_t Step(std::uint64_t bytes = 400) {
    const std::uint16_t slot = StepSlot(*state_, &made_);
    if (slot != abi::kNoGroupSlot) NoteStep(*state_, bytes);
    return slot;
  }
  void AddCommunicator(std::uint32_t size) {
    PendingGroup pending;
    AddGroup(*state_, abi::kSourceGloo, 0x100 + size, 0, size, pending);
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
  bool made_ = false;
};

TEST_F(StepsTest, AreNumberedOpsOfAGroupOfOne) {
  EXPECT_EQ(Step(), 0);
  EXPECT_TRUE(made_);
  EXPECT_EQ(Step(800), 0);
  EXPECT_FALSE(made_);
  const abi::GroupSlot& slot = state_->region.groups[0];
  EXPECT_EQ(std::string(slot.name), kStepGroup);
  EXPECT_EQ(slot.size, 1u);
  EXPECT_EQ(slot.member_count, 1u);
  EXPECT_EQ(slot.completed.load(), 2u);
  const auto all = All();
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto kind = static_cast<RecordKind>(all[i].record_kind);
    EXPECT_EQ(kind, i % 2 == 0 ? RecordKind::kOpEnter : RecordKind::kOpReturn);
    EXPECT_EQ(all[i].collective_kind, static_cast<std::uint8_t>(CollectiveKind::kStep));
    EXPECT_EQ(all[i].sequence, i / 2);
    EXPECT_EQ(all[i].bytes, i < 2 ? 400u : 800u);
    EXPECT_EQ(all[i].flags & abi::kFlagAsync, 0);
  }
}

TEST_F(StepsTest, AreToldBesideACommunicatorOfOne) {
  AddCommunicator(1);
  EXPECT_EQ(Step(), 1);
}

TEST_F(StepsTest, AreNotToldWhereThereAreOtherRanks) {
  AddCommunicator(4);
  EXPECT_EQ(Step(), abi::kNoGroupSlot);
  EXPECT_TRUE(All().empty());
}

TEST_F(StepsTest, EndWithTheFirstCommunicatorThatHasOthers) {
  EXPECT_EQ(Step(), 0);
  AddCommunicator(2);
  EXPECT_EQ(Step(), abi::kNoGroupSlot);
  EXPECT_EQ(All().size(), 2u);
}

TEST_F(StepsTest, AreNotToldWhereALauncherTellsOfOthers) {
  state_->region.header->world_size = 2;
  EXPECT_EQ(Step(), abi::kNoGroupSlot);
}

TEST_F(StepsTest, TurnTheTracerOnOnlyWhereNoLauncherTellsOfOthers) {
  tracer_state.store(nullptr);
  setenv("RANK", "0", 1);
  setenv("WORLD_SIZE", "8", 1);
  EXPECT_EQ(StateOfSteps(), nullptr);
  EXPECT_EQ(tracer_state.load(), nullptr);
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
}

}  // namespace
}  // namespace fathom::tracer
