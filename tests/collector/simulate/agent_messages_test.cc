// What simulated agents say of themselves, as the collector takes it.
#include "collector/fleet/agent_messages.h"

#include "collector/job/ranks/rank_table.h"
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

}  // namespace
}  // namespace fathom::simulate
