#include "diagnosis/hang/live/death.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kKilled = 9, kAborted = 6, kTerminated = 15, kStatusThree = 3 << 8,
              kStatusOne = 1 << 8;

RankFacts Dead(std::uint32_t rank, double at_s, std::optional<int> status, bool inside = false) {
  RankFacts facts;
  facts.rank = RankId(rank);
  facts.state = ProcessState::kGone;
  facts.gone_at = WallNs(1'000'000'000'000) + Nanos::FromSeconds(at_s);
  facts.wait_status = status;
  if (inside) facts.open_ops.push_back({});
  return facts;
}

Deaths Judge(std::vector<RankFacts> ranks) {
  JobView view;
  view.world_size = 4;
  view.ranks = std::move(ranks);
  return JudgeDeaths(view, DiagnosisConfig());
}

TEST(DeathTest, OfOneThatExitsTheOthersOnlyFollow) {
  const Deaths deaths = Judge({Dead(0, 0.2, kStatusOne, true), Dead(1, 0.1, kTerminated),
                               Dead(2, 0, kStatusThree), Dead(3, 0.1, kTerminated)});
  EXPECT_THAT(deaths.culprits, ElementsAre(RankId(2)));
  EXPECT_THAT(deaths.dead, ElementsAre(RankId(2), RankId(1), RankId(3), RankId(0)));
}

TEST(DeathTest, AKillInTheMiddleOfAnOpIsACauseNoticedLateOrNot) {
  EXPECT_THAT(Judge({Dead(0, 0, kTerminated), Dead(2, 0.1, kKilled, true)}).culprits,
              ElementsAre(RankId(2)));
}

TEST(DeathTest, WhoAbortsInsideCommunicationNeedNotBeGuilty) {
  const Deaths deaths = Judge({Dead(1, 0, kAborted, true), Dead(0, 0.3, kTerminated)});
  EXPECT_THAT(deaths.culprits, IsEmpty());
  EXPECT_THAT(deaths.missing, HasSubstr("why communication failed"));
}

TEST(DeathTest, AFailedOpIsAsGoodAsAnOpenOne) {
  RankFacts failed = Dead(1, 0, kStatusOne);
  failed.communication_failed = true;
  EXPECT_THAT(Judge({failed}).culprits, IsEmpty());
}

// It failed in the loader while the gradients of the step before were still on their way.
TEST(DeathTest, TheOneForWhomCommunicationHadNotFailedIsTheCause) {
  RankFacts other = Dead(0, 0.1, kStatusOne, true);
  other.communication_failed = true;
  const Deaths deaths = Judge({other, Dead(2, 0, kStatusThree, true)});
  EXPECT_THAT(deaths.culprits, ElementsAre(RankId(2)));
  EXPECT_TRUE(deaths.by_elimination);
  EXPECT_THAT(Judge({Dead(2, 0, kStatusThree, true)}).culprits, ElementsAre(RankId(2)));
  const Deaths two = Judge({Dead(0, 0.1, kStatusOne, true), Dead(2, 0, kStatusThree, true)});
  EXPECT_THAT(two.culprits, IsEmpty());
  const Deaths not_known = Judge({other, Dead(2, 0, std::nullopt, true)});
  EXPECT_THAT(not_known.culprits, IsEmpty());
}

TEST(DeathTest, AJobThatIsEndedFromOutsideHasNoCulprit) {
  const Deaths deaths = Judge({Dead(0, 0, kTerminated), Dead(1, 1, kStatusOne)});
  EXPECT_THAT(deaths.culprits, IsEmpty());
  EXPECT_THAT(deaths.missing, HasSubstr("ended by a signal"));
}

TEST(DeathTest, AllKilledAtOnceIsNobodysFault) {
  const Deaths deaths = Judge({Dead(0, 0, kKilled), Dead(1, 0.2, kKilled), Dead(2, 0.3, kKilled)});
  EXPECT_THAT(deaths.culprits, IsEmpty());
  EXPECT_THAT(deaths.missing, HasSubstr("at the same time"));
}

TEST(DeathTest, AClearLeadTellsTheFirst) {
  EXPECT_THAT(Judge({Dead(0, 0.9, kKilled), Dead(1, 0, kKilled)}).culprits, ElementsAre(RankId(1)));
}

TEST(DeathTest, WhoLeftInOrderIsNotDead) {
  RankFacts left = Dead(1, 0, 0);
  left.exited_orderly = true;
  EXPECT_THAT(Judge({left}).dead, IsEmpty());
}

}  // namespace
}  // namespace fathom::diagnosis
