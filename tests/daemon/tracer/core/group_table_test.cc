#include "daemon/tracer/core/group_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace fathom::tracer {
namespace {

class GroupTableTest : public testing::Test {
 protected:
  GroupTableTest() : bytes_(abi::RegionBytes(abi::kMinRecords) / 8) {
    auto* base = reinterpret_cast<std::uint8_t*>(bytes_.data());
    state_->region.control = reinterpret_cast<abi::ControlBlock*>(base + abi::kControlOffset);
    state_->region.groups = reinterpret_cast<abi::GroupSlot*>(base + abi::kGroupsOffset);
    state_->region.arena = base + abi::kArenaOffset;
  }

  std::uint16_t Add(std::uint64_t address, std::uint32_t rank, std::uint32_t size,
                    const char* name = nullptr, std::vector<std::uint32_t> members = {}) {
    members_ = std::move(members);
    pending_ = PendingGroup{};
    pending_.name = name;
    pending_.description = "about";
    pending_.members = members_.data();
    pending_.member_count = static_cast<std::uint32_t>(members_.size());
    return AddGroup(*state_, abi::kSourceGloo, address, rank, size, pending_);
  }
  const abi::GroupSlot& slot(std::uint16_t i) const { return state_->region.groups[i]; }
  std::uint64_t drops(abi::DropReason reason) const {
    return state_->region.control->drops[static_cast<int>(reason)].load();
  }

  std::vector<std::uint64_t> bytes_;
  std::unique_ptr<TracerState> state_ = std::make_unique<TracerState>();
  PendingGroup pending_;
  std::vector<std::uint32_t> members_;
};

TEST_F(GroupTableTest, WithoutPythonHoldsOrderRankAndSize) {
  EXPECT_EQ(Add(0x10, 1, 4), 0);
  EXPECT_EQ(Add(0x20, 0, 2), 1);
  EXPECT_EQ(slot(1).ordinal, 1u);
  EXPECT_EQ(slot(0).my_rank, 1u);
  EXPECT_EQ(slot(0).size, 4u);
  EXPECT_EQ(slot(0).state.load(), 2u);
  EXPECT_EQ(slot(0).member_form, 0u);
  EXPECT_STREQ(slot(0).name, "");
}

TEST_F(GroupTableTest, TheDefaultGroupHasAllRanks) {
  Add(0x10, 1, 4, "0");
  EXPECT_STREQ(slot(0).name, "0");
  EXPECT_STREQ(slot(0).description, "about");
  EXPECT_EQ(slot(0).member_form, static_cast<std::uint32_t>(abi::MemberForm::kStrided));
  EXPECT_EQ(slot(0).member_first, 0u);
  EXPECT_EQ(slot(0).member_stride, 1u);
  EXPECT_EQ(slot(0).member_count, 4u);
}

TEST_F(GroupTableTest, EvenlySpacedMembersAreStrided) {
  Add(0x10, 1, 3, "3", {1, 5, 9});
  EXPECT_EQ(slot(0).member_form, static_cast<std::uint32_t>(abi::MemberForm::kStrided));
  EXPECT_EQ(slot(0).member_first, 1u);
  EXPECT_EQ(slot(0).member_stride, 4u);
  Add(0x20, 0, 1, "4", {7});
  EXPECT_EQ(slot(1).member_first, 7u);
  EXPECT_EQ(slot(1).member_stride, 1u);
}

TEST_F(GroupTableTest, OtherMembersAreListed) {
  const std::vector<std::vector<std::uint32_t>> lists = {{0, 1, 3}, {3, 2, 1}, {5, 5}};
  for (std::uint16_t i = 0; i < 3; ++i) {
    Add(0x10 + i, 0, static_cast<std::uint32_t>(lists[i].size()), "g", lists[i]);
    ASSERT_EQ(slot(i).member_form, static_cast<std::uint32_t>(abi::MemberForm::kListed)) << i;
    std::vector<std::uint32_t> stored(slot(i).member_count);
    std::memcpy(stored.data(), state_->region.arena + slot(i).member_offset, 4 * stored.size());
    EXPECT_EQ(stored, lists[i]);
  }
}

TEST_F(GroupTableTest, AFullArenaLeavesMembersUnknown) {
  std::vector<std::uint32_t> odd(abi::kMemberArenaBytes / 4);
  for (std::uint32_t i = 0; i < odd.size(); ++i) odd[i] = i * i;
  const auto size = static_cast<std::uint32_t>(odd.size());
  Add(0x10, 0, size, "fits", odd);
  EXPECT_EQ(slot(0).member_form, static_cast<std::uint32_t>(abi::MemberForm::kListed));
  Add(0x20, 0, 3, "late", {0, 1, 3});
  EXPECT_EQ(slot(1).member_form, 0u);
  EXPECT_EQ(slot(1).size, 3u);
  odd.push_back(1);
  Add(0x30, 0, size + 1, "never fits", odd);
  EXPECT_EQ(slot(2).member_form, 0u);
  EXPECT_EQ(drops(abi::DropReason::kMemberArenaFull), 2u);
}

TEST_F(GroupTableTest, MembersThatContradictTheSizeAreNotStored) {
  Add(0x10, 0, 4, "odd", {0, 1});
  EXPECT_EQ(slot(0).member_form, 0u);
  EXPECT_EQ(drops(abi::DropReason::kInternal), 1u);
}

TEST_F(GroupTableTest, ASecondGroupOfOneAnnouncementGetsItsOwnName) {
  Add(0x10, 0, 2, "0");
  AddGroup(*state_, abi::kSourceGloo, 0x20, 0, 2, pending_);
  EXPECT_STREQ(slot(0).name, "0");
  EXPECT_STREQ(slot(1).name, "0/1");
}

TEST_F(GroupTableTest, LongNamesAreCut) {
  const std::string name(100, 'n');
  Add(0x10, 0, 2, name.c_str());
  EXPECT_EQ(std::string(slot(0).name), name.substr(0, abi::kNameBytes - 1));
}

TEST_F(GroupTableTest, FindsByAddressAndForgetsTheGone) {
  Add(0x10, 0, 2);
  Add(0x20, 0, 2);
  EXPECT_EQ(FindGroup(*state_, 0x20, 0), 1);
  EXPECT_EQ(FindGroup(*state_, 0x20, 1), 1);
  EXPECT_EQ(FindGroup(*state_, 0x20, abi::kNoGroupSlot), 1);
  EXPECT_EQ(FindGroup(*state_, 0x30, 0), abi::kNoGroupSlot);
  RemoveGroup(*state_, 0x20);
  RemoveGroup(*state_, 0x99);
  EXPECT_EQ(slot(1).state.load(), 3u);
  EXPECT_EQ(FindGroup(*state_, 0x20, 1), abi::kNoGroupSlot);
  Add(0x20, 0, 2);
  EXPECT_EQ(FindGroup(*state_, 0x20, 1), 2)
      << "a new group at an old address has a slot of its own";
}

TEST_F(GroupTableTest, WhatWasStoppedIsTheNewestThatWent) {
  Add(0x20, 0, 2);
  RemoveGroup(*state_, 0x20);
  NoteStopped(*state_, 0x20, Standing::kGone);
  const std::uint64_t first = slot(0).stopped_ns.load();
  EXPECT_NE(first, 0u);
  Add(0x20, 0, 2);
  RemoveGroup(*state_, 0x20);
  EXPECT_EQ(slot(1).stopped_ns.load(), 0u) << "its host may hang in the call that ends it";
  Add(0x20, 0, 2);  // by another thread, in the middle of that call
  NoteStopped(*state_, 0x20, Standing::kGone);
  EXPECT_EQ(slot(0).stopped_ns.load(), first);
  EXPECT_NE(slot(1).stopped_ns.load(), 0u);
  EXPECT_EQ(slot(2).stopped_ns.load(), 0u);
}

TEST_F(GroupTableTest, ALiveOneMayBeStoppedToo) {
  Add(0x20, 0, 2);
  Add(0x30, 0, 2);
  NoteStopped(*state_, 0x20, Standing::kLive);
  NoteStopped(*state_, 0x99, Standing::kLive);
  EXPECT_NE(slot(0).stopped_ns.load(), 0u);
  EXPECT_EQ(slot(0).state.load(), 2u);
  EXPECT_EQ(slot(1).stopped_ns.load(), 0u);
}

TEST_F(GroupTableTest, AFullTableIsCounted) {
  for (std::uint32_t i = 0; i < abi::kGroupSlots; ++i) EXPECT_EQ(Add(0x1000 + i, 0, 1), i);
  EXPECT_EQ(Add(0x9999, 0, 1), abi::kNoGroupSlot);
  EXPECT_EQ(drops(abi::DropReason::kGroupTableFull), 1u);
  EXPECT_EQ(FindGroup(*state_, 0x9999, 0), abi::kNoGroupSlot);
}

}  // namespace
}  // namespace fathom::tracer
