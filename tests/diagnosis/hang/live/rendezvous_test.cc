#include "diagnosis/hang/live/rendezvous.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/hang/live/hang_job.h"

namespace fathom::diagnosis {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Four ranks that have begun and entered no op. All but rank 2 have been in init_process_group for
// `seconds`; rank 2 sleeps on a lock.
JobView Begins(double seconds) {
  JobView view;
  view.world_size = 4;
  view.now = WallNs(1'000'000'000'000'000);
  view.ranks = {Facts(0), Facts(1), Facts(2), Facts(3)};
  for (RankFacts& facts : view.ranks) {
    facts.silent_for = Nanos::FromSeconds(seconds + 5);
    facts.typical_iteration = Nanos();
    facts.iterations_seen = 0;
    if (facts.rank == RankId(2)) continue;
    facts.wait_channel = "wait_woken";
    facts.open_mark = "communicator (init_process_group)";
    facts.in_mark_for = Nanos::FromSeconds(seconds);
  }
  return view;
}

TEST(RendezvousTest, TheOneThatDoesNotComeIsNamed) {
  const Diagnosis said = Say(Begins(90));
  ASSERT_EQ(said.verdicts.size(), 1u);
  const Verdict& verdict = said.verdicts[0];
  EXPECT_EQ(verdict.grade, Grade::kSupported);
  EXPECT_EQ(verdict.cause, Cause::kNonCommunicationHang);
  EXPECT_THAT(verdict.entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(verdict.victims, ElementsAre(RankId(0), RankId(1), RankId(3)));
  EXPECT_THAT(verdict.sentence,
              HasSubstr("has not come to init_process_group, in which ranks 0, 1 and 3 have waited "
                        "for 90 s: it is blocked on a lock"));
}

TEST(RendezvousTest, AStartThatIsSlowIsNoMoreThanALead) {
  const Diagnosis said = Say(Begins(40));
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_THAT(Say(Begins(20)).verdicts, IsEmpty()) << "within what a start-up may take";
}

TEST(RendezvousTest, HowLongTheOthersHaveWaitedCounts) {
  JobView view = Begins(40);
  view.ranks[2].silent_for = Nanos::FromSeconds(400);
  ASSERT_EQ(Say(view).verdicts.size(), 1u);
  EXPECT_EQ(Say(view).verdicts[0].grade, Grade::kHypothesis)
      << "it loaded for long, as the others did";
}

TEST(RendezvousTest, WhoReadsItsWeightsIsSlow) {
  JobView view = Begins(90);
  view.ranks[2].io_while_silent = 50'000'000'000;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kHostSlow);
}

TEST(RendezvousTest, AStoppedOneIsSaidToBeStopped) {
  JobView view = Begins(40);
  view.ranks[2].state = ProcessState::kStopped;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kProcessStopped);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kEstablished);
  EXPECT_THAT(said.verdicts[0].victims, ElementsAre(RankId(0), RankId(1), RankId(3)));
}

TEST(RendezvousTest, OfARankThatWasNeverSeenNobodyIsAccused) {
  JobView view = Begins(90);
  view.ranks.pop_back();
  const Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty()) << "rank 2 may wait for rank 3, too";
  EXPECT_THAT(said.abstained,
              Contains(Field(&Abstention::missing, HasSubstr("what rank 3 does, of which no"))));
}

TEST(RendezvousTest, SeveralThatHaveNotComeMayWaitForOneAnother) {
  JobView view = Begins(90);
  view.ranks[3].open_mark.clear();
  const Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained,
              Contains(Field(&Abstention::missing, HasSubstr("what ranks 2 and 3 do"))));
}

TEST(RendezvousTest, WithoutMarksNothingIsSaidOfAnybody) {
  JobView view = Begins(90);
  for (RankFacts& facts : view.ranks) facts.open_mark.clear();
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(RendezvousTest, WhereAllHaveComeNobodyIsLate) {
  JobView view = Begins(90);
  view.ranks[2].open_mark = view.ranks[0].open_mark;
  view.ranks[2].in_mark_for = Nanos::FromSeconds(80);
  const Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained,
              Contains(Field(&Abstention::missing, HasSubstr("all 4 ranks are inside"))));
}

TEST(RendezvousTest, InTheMidstOfAJobItsOwnIterationsCount) {
  JobView view = Begins(12);
  for (RankFacts& facts : view.ranks) {
    facts.typical_iteration = Nanos::FromSeconds(0.1);
    facts.iterations_seen = 100;
    if (facts.rank != RankId(2)) facts.open_mark = "communicator (new_group)";
  }
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kSupported);
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("has not come to new_group"));
}

}  // namespace
}  // namespace fathom::diagnosis
