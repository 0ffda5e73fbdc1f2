// What simulated agents say of themselves, as the collector takes it.
#include "collector/fleet/agent_messages.h"

#include "collector/ingest/validate.h"
#include "collector/job/ranks/rank_table.h"
#include "fathom/v1/agent.pb.h"
#include "gtest/gtest.h"

namespace fathom::simulate {
namespace {

const collector::RankTable::Teller kTeller{"sim-n0", "", MonoNs(1)};

v1::RankInfo Rank0(std::uint32_t world, WallNs started) {
  diagnosis::RankFacts facts;
  facts.pid = 4242;
  return ToRankInfo("again", facts, 0, world, started);
}

TEST(AgentMessagesTest, AJobThatIsPlayedAgainIsARestart) {
  const WallNs first(1'790'000'000'000'000'000);
  collector::RankTable table;
  EXPECT_TRUE(table.Admit(Rank0(64, first), kTeller, 100).added);
  EXPECT_FALSE(table.Admit(Rank0(64, first), kTeller, 100).restarted) << "its agent came back";
  const auto smaller = table.Admit(Rank0(16, first + Nanos::FromSeconds(1)), kTeller, 100);
  EXPECT_FALSE(smaller.rejected.has_value());
  EXPECT_TRUE(smaller.restarted);
  EXPECT_EQ(table.world_size(), 16u);
}

diagnosis::RankIteration Iteration10Ms(std::uint32_t anchored) {
  diagnosis::RankIteration rank;
  rank.rank = RankId(3);
  rank.begin = MonoNs(1'000'000'000);
  rank.duration = Nanos(10'000'000);
  rank.ops = 2 + anchored;
  rank.groups = {{GroupId(7), 2, Nanos(4'000'000), {}, {}, {}},
                 {GroupId(9), anchored, Nanos(1'000'000), {}, {}, {}}};
  return rank;
}

TEST(AgentMessagesTest, IterationsOfARankGoTogether) {
  const diagnosis::IterationSummary first{Iteration(5), WallNs(1'790'000'000'000'000'000), {}, {}};
  v1::SummaryBatch batch = ToBatch("job", first, Iteration10Ms(3), Nanos());
  diagnosis::RankIteration next = Iteration10Ms(3);
  next.duration = Nanos(12'000'000);
  next.groups[0].elapsed = Nanos(6'000'000);
  ASSERT_TRUE(AddIteration(next, batch));
  v1::AgentMessage message;
  *message.mutable_summary() = batch;
  EXPECT_FALSE(collector::Validate(message).has_value());
  EXPECT_EQ(batch.first_iteration(), 5);
  EXPECT_EQ(batch.first_anchor_sequence(), 18u);
  ASSERT_EQ(batch.anchor_step_size(), 2);
  EXPECT_EQ(batch.anchor_step(1), 3);
  EXPECT_EQ(batch.duration_us(1), 12'000u);
  ASSERT_EQ(batch.groups_size(), 2);
  EXPECT_EQ(batch.groups(0).elapsed_us(1), 6'000u);
}

TEST(AgentMessagesTest, AnIterationOfOtherCommunicatorsDoesNotJoin) {
  const diagnosis::IterationSummary first{Iteration(5), WallNs(1), {}, {}};
  v1::SummaryBatch batch = ToBatch("job", first, Iteration10Ms(3), Nanos());
  diagnosis::RankIteration other = Iteration10Ms(3);
  other.groups[0].group = GroupId(8);
  EXPECT_FALSE(AddIteration(other, batch));
  EXPECT_FALSE(AddIteration(Iteration10Ms(4), batch)) << "its anchor's sequence moves on by more";
  EXPECT_EQ(batch.duration_us_size(), 1);
}

}  // namespace
}  // namespace fathom::simulate
