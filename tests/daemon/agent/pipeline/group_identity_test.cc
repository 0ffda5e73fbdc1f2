#include "daemon/agent/pipeline/group_identity.h"

#include <gtest/gtest.h>

#include <numeric>

namespace fathom::agent {
namespace {

GroupFacts Facts(const std::string& name, std::uint32_t size, std::uint32_t my_rank,
                 std::vector<std::uint32_t> members = {}, std::uint32_t ordinal = 0) {
  GroupFacts facts;
  facts.ready = true;
  facts.name = name;
  facts.size = size;
  facts.my_rank = my_rank;
  facts.members = std::move(members);
  facts.ordinal = ordinal;
  return facts;
}

TEST(GroupIdentityTest, IsEqualOnAllMembersAndFixedForever) {
  const GroupIdentity a = IdentifyGroup(Facts("1", 2, 0, {4, 5}, 1), 8);
  const GroupIdentity b = IdentifyGroup(Facts("1", 2, 1, {4, 5}, 7), 8);
  EXPECT_EQ(a.id, b.id);
  EXPECT_FALSE(a.guessed);
  // Agents of different builds and nodes must agree: this number may only change with the protocol.
  EXPECT_EQ(a.id.value, IdentifyGroup(Facts("1", 2, 1, {4, 5}), 64).id.value);
}

TEST(GroupIdentityTest, NameAndMembersBothCount) {
  const GroupId base = IdentifyGroup(Facts("1", 2, 0, {4, 5}), 8).id;
  EXPECT_NE(base, IdentifyGroup(Facts("2", 2, 0, {4, 5}), 8).id);
  EXPECT_NE(base, IdentifyGroup(Facts("1", 2, 0, {6, 7}), 8).id);
  EXPECT_NE(base, IdentifyGroup(Facts("1", 2, 0, {5, 4}), 8).id);
}

TEST(GroupIdentityTest, TheWorldsMembersAreKnownWithoutBeingTold) {
  const GroupIdentity world = IdentifyGroup(Facts("", 4, 2), 4);
  EXPECT_EQ(world.members, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_FALSE(world.guessed);
}

TEST(GroupIdentityTest, ANameAloneIsEnough) {
  const GroupIdentity a = IdentifyGroup(Facts("tp", 2, 0, {}, 1), 8);
  const GroupIdentity b = IdentifyGroup(Facts("tp", 2, 1, {}, 3), 8);
  EXPECT_EQ(a.id, b.id);
  EXPECT_FALSE(a.guessed);
  EXPECT_TRUE(a.members.empty());
}

TEST(GroupIdentityTest, WithNothingButOrderItIsAGuessAndSaysSo) {
  const GroupIdentity a = IdentifyGroup(Facts("", 2, 0, {}, 1), 8);
  const GroupIdentity b = IdentifyGroup(Facts("", 2, 1, {}, 1), 8);
  const GroupIdentity later = IdentifyGroup(Facts("", 2, 1, {}, 2), 8);
  EXPECT_TRUE(a.guessed);
  EXPECT_EQ(a.id, b.id);
  EXPECT_NE(a.id, later.id);
}

TEST(GroupIdentityTest, AnAbsurdWorldIsNotSpelledOut) {
  EXPECT_TRUE(IdentifyGroup(Facts("", 0xfffffff0, 0), 0xfffffff0).members.empty());
}

TEST(GroupIdentityTest, IsNeverZero) {
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_NE(IdentifyGroup(Facts("", 2, 0, {}, i), 8).id.value, 0u);
  }
}

}  // namespace
}  // namespace fathom::agent
