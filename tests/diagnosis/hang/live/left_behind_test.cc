#include "diagnosis/hang/live/left_behind.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/hang/live/hang_job.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kAll = 1, kPair = 2;

// Rank 2 has called 40 ops of all where the others have called 41; rank 3, its partner, has called
// one more of their pair. Nobody tells when they end.
JobView Uneven() {
  JobView view;
  view.world_size = 4;
  view.now = WallNs(1'000'000'000'000'000);
  view.groups = {{GroupId(kAll), "0", "", 4, {RankId(0), RankId(1), RankId(2), RankId(3)}},
                 {GroupId(kPair), "1", "PAIR", 2, {RankId(2), RankId(3)}}};
  view.ranks = {Facts(0), Facts(1), Facts(2), Facts(3)};
  for (RankFacts& facts : view.ranks) {
    facts.groups = {{GroupId(kAll), facts.rank == RankId(2) ? 40u : 41u, 0, 0}};
  }
  view.ranks[2].groups.push_back({GroupId(kPair), 7, 0, 0});
  view.ranks[3].groups.push_back({GroupId(kPair), 8, 0, 0});
  return view;
}

TEST(LeftBehindTest, TheOneThatHasCalledFewestIsALead) {
  const Diagnosis said = Say(Uneven());
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(said.verdicts[0].victims, ElementsAre(RankId(0), RankId(1), RankId(3)));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("has called 40 ops of"));
}

TEST(LeftBehindTest, TwoThatAreBehindAreNoLead) {
  JobView view = Uneven();
  view.ranks[0].groups[0].entered = 40;
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(LeftBehindTest, WhoIsBehindHereAndAheadThereIsNoEnd) {
  JobView view = Uneven();
  view.ranks[2].groups[1].entered = 9;
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(LeftBehindTest, EqualCountsTellNothing) {
  JobView view = Uneven();
  view.ranks[2].groups = view.ranks[3].groups;
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(LeftBehindTest, CountsThatMayStillGrowTellNothing) {
  JobView view = Uneven();
  view.ranks[3].silent_for = Nanos::FromSeconds(1);
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
  view = Uneven();
  view.ranks[1].agent_reachable = false;
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
  view = Uneven();
  view.ranks[1].groups.clear();
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

}  // namespace
}  // namespace fathom::diagnosis
