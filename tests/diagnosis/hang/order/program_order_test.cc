#include "diagnosis/hang/order/program_order.h"

#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

// A letter an op: its group.
std::vector<OpStep> Ops(std::string_view letters) {
  std::vector<OpStep> ops;
  for (const char letter : letters) {
    ops.push_back(
        {GroupId(static_cast<std::uint64_t>(letter)), CollectiveKind::kAllReduce, 4, kNoRank});
  }
  return ops;
}

std::optional<OrderBreak> Find(std::string_view a, std::string_view b) {
  return FindOrderBreak({{RankId(1), Ops(a)}, {RankId(2), Ops(b)}}, {RankId(1), RankId(2)});
}

constexpr std::string_view kUsual = "TDDDDTWTDDDDTWTDDDDTWTDDDDTW";

std::string After(std::string_view now) { return std::string(kUsual) + std::string(now); }

TEST(ProgramOrderTest, NamesTheOneThatLeftAnOpOut) {
  const auto found = Find(After("TDDDDT"), After("DDDDTW"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, RankId(2));
  EXPECT_EQ(found->usual.group, GroupId('T'));
  EXPECT_EQ(found->did.group, GroupId('D'));
  EXPECT_GE(found->times, 2u);
}

TEST(ProgramOrderTest, FindsOneOpMissingInARowOfEqualOnes) {
  const auto found = Find(After("TDDDTW"), After("TDDDDT"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, RankId(1));
}

TEST(ProgramOrderTest, NamesTheOneThatChangedTheOrder) {
  const auto found = Find(After("TDDDDT"), After("TDDDDW"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, RankId(2));
}

TEST(ProgramOrderTest, NobodyWhenAllKeepTheirOrder) {
  EXPECT_FALSE(Find(After("TDD"), After("TDDDDTW")).has_value());
}

TEST(ProgramOrderTest, NobodyWhenTwoLeaveIt) {
  EXPECT_FALSE(Find(After("DDDDTW"), After("TDDDDW")).has_value());
}

TEST(ProgramOrderTest, NobodyWhenARankHasNoHistory) {
  EXPECT_FALSE(Find("TD", After("DDDDTW")).has_value());
  EXPECT_FALSE(FindOrderBreak({{RankId(2), Ops(After("DDDDTW"))}}, {RankId(1), RankId(2)}));
}

TEST(ProgramOrderTest, AJobWithoutARhythmTellsNothing) {
  EXPECT_FALSE(Find("ABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNPO").has_value());
}

}  // namespace
}  // namespace fathom::diagnosis
