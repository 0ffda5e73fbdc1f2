#include "diagnosis/hang/live/lagging.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/hang/live/hang_job.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kAll = 1, kPair = 2;

OpenOp Inside(std::uint64_t group, std::uint64_t sequence, double seconds, bool started) {
  OpenOp op;
  op.group = GroupId(group);
  op.sequence = Sequence(sequence);
  op.kind = CollectiveKind::kAllReduce;
  op.age = Nanos::FromSeconds(seconds);
  op.started = started;
  return op;
}

// All have entered op 40 of all and the two after it; on rank 2 alone its device has begun none.
JobView Lags() {
  JobView view;
  view.world_size = 4;
  view.now = WallNs(1'000'000'000'000'000);
  view.groups = {{GroupId(kAll), "0", "", 4, {RankId(0), RankId(1), RankId(2), RankId(3)}},
                 {GroupId(kPair), "1", "PAIR", 2, {RankId(0), RankId(1)}}};
  view.ranks = {Facts(0), Facts(1), Facts(2), Facts(3)};
  for (RankFacts& facts : view.ranks) {
    const bool lags = facts.rank == RankId(2);
    for (std::uint64_t i = 0; i < 3; ++i) {
      facts.open_ops.push_back(Inside(kAll, 40 + i, 20 - 0.1 * double(i), i == 0 && !lags));
    }
    facts.groups = {{GroupId(kAll), 43, lags ? 40u : 41u, 40}};
  }
  return view;
}

TEST(LaggingTest, TheOneWhoseDeviceHasNotBegunIsNamed) {
  const Diagnosis said = Say(Lags());
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kNonCommunicationHang);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kSupported);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(said.verdicts[0].victims, ElementsAre(RankId(0), RankId(1), RankId(3)));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("its device has not begun it, while on ranks 0, "
                                                   "1 and 3 it runs and waits"));
}

TEST(LaggingTest, SoIsOneWhoseHostIsBehindToo) {
  JobView view = Lags();
  view.ranks[2].open_ops.resize(1);
  view.ranks[2].groups[0].entered = 41;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
}

TEST(LaggingTest, ForAShortWhileItIsALead) {
  JobView view = Lags();
  for (RankFacts& facts : view.ranks) {
    facts.silent_for = Nanos::FromSeconds(6);
    for (OpenOp& op : facts.open_ops) op.age = op.age - Nanos::FromSeconds(14);
  }
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis) << "a long computation";
}

TEST(LaggingTest, WhereNothingTellsBeginningsNobodyLags) {
  JobView view = Lags();
  view.ranks[2].groups[0].started = 0;
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(LaggingTest, AnOlderCommunicationOfItsOwnHoldsItUp) {
  JobView view = Lags();
  view.groups[1].members = {RankId(1), RankId(2)};
  view.ranks[2].open_ops.insert(view.ranks[2].open_ops.begin(), Inside(kPair, 7, 21, true));
  view.ranks[1].open_ops.insert(view.ranks[1].open_ops.begin(), Inside(kPair, 7, 21, true));
  view.ranks[1].groups.push_back({GroupId(kPair), 8, 8, 7});
  view.ranks[2].groups.push_back({GroupId(kPair), 8, 8, 7});
  for (const Verdict& verdict : Say(view).verdicts) {
    EXPECT_EQ(verdict.problem, ProblemClass::kCommunicationHang) << verdict.sentence;
  }
}

TEST(LaggingTest, TwoThatLagAreNotTold) {
  JobView view = Lags();
  view.ranks[3].open_ops[0].started = false;
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(LaggingTest, WhereAllHaveBegunItIsTheCommunication) {
  JobView view = Lags();
  view.ranks[2].open_ops[0].started = true;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kCommunicationHang);
}

}  // namespace
}  // namespace fathom::diagnosis
