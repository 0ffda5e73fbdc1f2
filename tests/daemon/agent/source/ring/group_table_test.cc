#include "daemon/agent/source/ring/group_table.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using abi::MemberForm;
using fakes::RingFolder;
using fakes::RingWriter;
using Members = std::vector<std::uint32_t>;

class GroupTableTest : public testing::Test {
 protected:
  GroupTableTest() : writer_(folder_.path(), {}), region_(*RegionReader::Open(writer_.path())) {}

  const GroupFacts& Read(std::uint16_t slot) {
    EXPECT_TRUE(table_.Refresh(slot + 1u).ok());
    return table_.groups()[slot];
  }
  // A group of four whose members are told as given.
  const GroupFacts& WithMembers(MemberForm form, std::uint32_t count, std::uint32_t first,
                                std::uint32_t stride, std::uint32_t offset = 0) {
    const std::uint16_t slot = writer_.AddGroup("g", 4, 0);
    abi::GroupSlot& g = writer_.group(slot);
    g.member_form = static_cast<std::uint32_t>(form);
    g.member_count = count;
    g.member_first = first;
    g.member_stride = stride;
    g.member_offset = offset;
    return Read(slot);
  }

  void TellDevice(std::uint16_t slot, std::uint32_t device, const char* bus_id) {
    std::strncpy(writer_.group(slot).bus_id, bus_id, abi::kBusIdBytes);
    writer_.group(slot).device.store(device);
  }

  RingFolder folder_;
  RingWriter writer_;
  RegionReader region_;
  GroupTable table_{region_};
};

TEST_F(GroupTableTest, ReadsNameMembersAndProgress) {
  const std::uint16_t slot = writer_.AddGroup("tp", 2, 1, {4, 5});
  writer_.group(slot).entered.store(9);
  writer_.group(slot).completed.store(8);
  const GroupFacts& g = Read(slot);
  EXPECT_TRUE(g.ready);
  EXPECT_EQ(g.name, "tp");
  EXPECT_EQ(g.my_rank, 1u);
  EXPECT_EQ(g.members, (Members{4, 5}));
  EXPECT_EQ(table_.progress()[slot].entered, 9u);
  EXPECT_EQ(table_.progress()[slot].completed, 8u);
}

TEST_F(GroupTableTest, SpellsOutAStride) {
  EXPECT_EQ(WithMembers(MemberForm::kStrided, 4, 1, 3).members, (Members{1, 4, 7, 10}));
}

TEST_F(GroupTableTest, AGroupStillBeingWrittenIsTakenInLater) {
  const std::uint16_t slot = writer_.AddGroup("late", 2, 0);
  writer_.group(slot).state.store(1);
  EXPECT_FALSE(Read(slot).ready);
  writer_.group(slot).state.store(2);
  EXPECT_TRUE(Read(slot).ready);
}

TEST_F(GroupTableTest, AGroupThatIsGoneKeepsItsFacts) {
  const std::uint16_t slot = writer_.AddGroup("gone", 2, 0, {0, 1});
  EXPECT_FALSE(Read(slot).gone);
  writer_.group(slot).state.store(3);
  EXPECT_TRUE(Read(slot).gone);
  EXPECT_EQ(table_.groups()[slot].members, (Members{0, 1}));
}

TEST_F(GroupTableTest, AnUnknownStateIsNotReady) {
  const std::uint16_t slot = writer_.AddGroup("odd", 2, 0);
  writer_.group(slot).state.store(77);
  EXPECT_FALSE(Read(slot).ready);
}

TEST_F(GroupTableTest, MembersThatMakeNoSenseAreLeftOut) {
  EXPECT_TRUE(WithMembers(MemberForm::kStrided, 3, 0, 1).members.empty());  // count != size
  EXPECT_TRUE(WithMembers(MemberForm::kStrided, 4, 0, 0).members.empty());  // one rank four times
  EXPECT_TRUE(WithMembers(MemberForm::kStrided, 4, 0xfffffff0, 9).members.empty());  // overflow
  EXPECT_TRUE(
      WithMembers(MemberForm::kListed, 4, 0, 0, abi::kMemberArenaBytes - 8).members.empty());
  EXPECT_TRUE(WithMembers(MemberForm::kListed, 4, 0, 0, 0xffffffff).members.empty());
  EXPECT_TRUE(WithMembers(MemberForm::kListed, 4, 0, 0, 0).members.empty());  // all zero: twice
  EXPECT_TRUE(WithMembers(static_cast<MemberForm>(9), 4, 0, 1).members.empty());
  EXPECT_EQ(table_.members_rejected(), 7u);
}

TEST_F(GroupTableTest, UnknownMembersAreNotAnError) {
  EXPECT_TRUE(WithMembers(MemberForm::kUnknown, 0, 0, 0).members.empty());
  EXPECT_EQ(table_.members_rejected(), 0u);
}

TEST_F(GroupTableTest, ATruncatedRegionIsAnError) {
  writer_.AddGroup("g", 2, 0);
  writer_.Truncate(abi::kGroupsOffset + 10);
  EXPECT_TRUE(absl::IsDataLoss(table_.Refresh(1)));
}

TEST_F(GroupTableTest, TellsWhenACommunicatorWasStopped) {
  const std::uint16_t slot = writer_.AddGroup("tp", 2, 1, {4, 5});
  Read(slot);
  EXPECT_EQ(table_.progress()[slot].stopped_ns, 0);
  writer_.group(slot).stopped_ns.store(77);
  Read(slot);
  EXPECT_EQ(table_.progress()[slot].stopped_ns, 77);
  writer_.group(slot).stopped_ns.store(~std::uint64_t{0});
  Read(slot);
  EXPECT_EQ(table_.progress()[slot].stopped_ns, 0) << "no time of any machine";
}

TEST_F(GroupTableTest, TheDeviceOfACommunicator) {
  const std::uint16_t slot = writer_.AddGroup("tp", 2, 1);
  TellDevice(slot, 4, "0000:1B:00.0");
  EXPECT_EQ(Read(slot).gpu, (Gpu{3, "0000:1B:00.0", ""}));
}

TEST_F(GroupTableTest, ADeviceMayBeToldLater) {
  const std::uint16_t slot = writer_.AddGroup("tp", 2, 1);
  EXPECT_FALSE(Read(slot).gpu) << "as in a ring of an earlier version";
  EXPECT_FALSE(Read(slot).device_told);
  TellDevice(slot, 1, "");
  EXPECT_EQ(Read(slot).gpu, (Gpu{0, "", ""})) << "its number alone";
  TellDevice(slot, 9, "0000:3D:00.0");
  EXPECT_EQ(Read(slot).gpu, (Gpu{0, "", ""})) << "it does not change";
}

TEST_F(GroupTableTest, ADeviceThatMakesNoSenseIsNone) {
  const char* const odd[] = {"0000:1B:00",   "0000:1B:00.0 ", "../../etc/passwd",
                             "0000:1G:00.0", "\x01\xff",      "00000000:00000000:00"};
  for (const char* bus_id : odd) {
    const std::uint16_t slot = writer_.AddGroup("g", 2, 0);
    TellDevice(slot, 1, bus_id);
    EXPECT_FALSE(Read(slot).gpu) << bus_id;
    EXPECT_FALSE(Read(slot).gpu);
  }
  const std::uint16_t far = writer_.AddGroup("g", 2, 0);
  TellDevice(far, 0xffffffff, "");
  EXPECT_FALSE(Read(far).gpu);
  EXPECT_EQ(table_.devices_rejected(), std::size(odd) + 1) << "each once";
}

}  // namespace
}  // namespace fathom::agent
