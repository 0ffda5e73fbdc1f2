#include "diagnosis/hang/order/crossed_ops.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/hang/live/hang_job.h"

namespace fathom::diagnosis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kOne = 1, kTwo = 2;

void Open(RankFacts& facts, std::uint64_t group, std::uint64_t sequence, double seconds) {
  OpenOp op;
  op.group = GroupId(group);
  op.sequence = Sequence(sequence);
  op.kind = CollectiveKind::kAllReduce;
  op.age = Nanos::FromSeconds(seconds);
  facts.open_ops.push_back(op);
}

// Rank `rank` has called both without waiting, in this order.
RankFacts Inside(std::uint32_t rank, bool one_first) {
  RankFacts facts = Facts(rank);
  Open(facts, kOne, 41, one_first ? 20.001 : 20);
  Open(facts, kTwo, 17, one_first ? 20 : 20.001);
  facts.groups = {{GroupId(kOne), 42, 42, 41}, {GroupId(kTwo), 18, 18, 17}};
  return facts;
}

JobView Crossed() {
  JobView view;
  view.world_size = 3;
  view.now = WallNs(1'000'000'000'000'000);
  const std::vector<RankId> all{RankId(0), RankId(1), RankId(2)};
  view.groups = {{GroupId(kOne), "0", "A", 3, all}, {GroupId(kTwo), "1", "B", 3, all}};
  view.ranks = {Inside(0, true), Inside(1, false), Inside(2, true)};
  return view;
}

// Five times A, then B; last in the order that is open.
void AddRows(JobView& view) {
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    std::int64_t at = 0;
    const auto add = [&](std::uint64_t group) {
      CommOp op;
      op.group = GroupId(group);
      op.kind = CollectiveKind::kAllReduce;
      op.enter = MonoNs(++at);
      view.rows[RankId(rank)].ops.push_back(op);
    };
    for (int times = 0; times < 5; ++times) {
      add(kOne);
      add(kTwo);
    }
    add(rank == 1 ? kTwo : kOne);
    add(rank == 1 ? kOne : kTwo);
  }
}

TEST(CrossedOpsTest, BothSidesAndBothOrdersAreToldAndTheSmallerIsALead) {
  const Diagnosis said = Say(Crossed());
  ASSERT_EQ(said.verdicts.size(), 1u);
  const Verdict& verdict = said.verdicts[0];
  EXPECT_EQ(verdict.cause, Cause::kMismatch);
  EXPECT_EQ(verdict.grade, Grade::kHypothesis);
  EXPECT_THAT(verdict.entity.ranks, ElementsAre(RankId(1)));
  EXPECT_THAT(verdict.sentence,
              HasSubstr("Ranks 0 and 2 entered all_reduce 41 of A (0) before all_reduce 17 of "
                        "B (1), rank 1 the other way round"));
  EXPECT_THAT(verdict.evidence, Contains(Field(&Evidence::statement,
                                               HasSubstr("Rank 1 entered all_reduce 17 of B"))));
}

TEST(CrossedOpsTest, WhoLeftItsOrderIsTheOne) {
  JobView view = Crossed();
  AddRows(view);
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kSupported);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(1)));
}

TEST(CrossedOpsTest, OfTwoWithoutAHabitBothAreNamed) {
  JobView view = Crossed();
  view.world_size = 2;
  view.ranks.pop_back();
  for (Group& group : view.groups) {
    group.members.pop_back();
    group.size = 2;
  }
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(0), RankId(1)));
}

TEST(CrossedOpsTest, OneOrderOnAllIsNone) {
  JobView view = Crossed();
  view.ranks[1] = Inside(1, true);
  for (const Verdict& verdict : Say(view).verdicts) EXPECT_NE(verdict.cause, Cause::kMismatch);
}

TEST(CrossedOpsTest, AnOpThatHasBegunWaitsForNoneBeforeIt) {
  JobView view = Crossed();
  for (RankFacts& facts : view.ranks) {
    for (OpenOp& op : facts.open_ops) op.started = true;
  }
  for (const Verdict& verdict : Say(view).verdicts) EXPECT_NE(verdict.cause, Cause::kMismatch);
}

TEST(CrossedOpsTest, WithoutCountsNothingIsSaid) {
  JobView view = Crossed();
  for (RankFacts& facts : view.ranks) facts.groups.clear();
  view.ranks[2].open_ops.clear();
  view.ranks[2].silent_for = Nanos::FromSeconds(1);
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

}  // namespace
}  // namespace fathom::diagnosis
