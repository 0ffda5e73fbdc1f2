#include "collector/import/reading/group_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(NamesApart, OneGroupOfAllItsMembersKeepsItsName) {
  EXPECT_THAT(NamesApart({{0, "1", {0, 2}}, {2, "1", {0, 2}}, {1, "2", {1, 3}}, {3, "2", {1, 3}}}),
              IsEmpty());
}

TEST(NamesApart, GroupsWithoutACommonRankAreTwo) {
  EXPECT_THAT(
      NamesApart({{0, "9", {0, 1}}, {1, "9", {1, 0}}, {4, "9", {4, 5}}, {0, "0", {0, 4}}}),
      ElementsAre(Pair(Pair(0, "9"), "9 (ranks 0, 1)"), Pair(Pair(1, "9"), "9 (ranks 0, 1)"),
                  Pair(Pair(4, "9"), "9 (ranks 4, 5)")));
  EXPECT_THAT(
      NamesApart({{0, "9", {0}}, {20, "9", {29, 28, 27, 26, 25, 24, 23, 22, 21, 20}}}),
      ElementsAre(Pair(Pair(0, "9"), "9 (ranks 0)"), Pair(Pair(20, "9"), "9 (10 ranks from 20)")));
}

TEST(NamesApart, ListsThatOverlapAreNoTwoGroups) {
  EXPECT_THAT(NamesApart({{0, "9", {0, 1}}, {2, "9", {1, 2}}}), IsEmpty());
}

TEST(NamesApart, WhoSpeaksOfOthersOrSaysNothingTellsNothing) {
  EXPECT_THAT(NamesApart({{0, "9", {0, 1}}, {7, "9", {4, 5}}, {6, "9", {}}}), IsEmpty());
}

}  // namespace
}  // namespace fathom::collector
