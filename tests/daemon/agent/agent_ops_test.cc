// Every op, sent all the time to a collector that wants them.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "daemon/agent/ops/op_stream.h"
#include "proto/packing/unpack_ops.h"
#include "proto/types/job_names.h"
#include "tests/daemon/agent/agent_fixture.h"

namespace fathom::agent {
namespace {

struct OpsAgentTest : AgentTest {
  // Of each rank the numbers of the ops that came, in order.
  std::map<std::uint32_t, std::vector<std::uint64_t>> Came() {
    std::map<std::uint32_t, std::vector<std::uint64_t>> ops;
    for (const v1::AgentMessage& message : collector_.messages()) {
      if (!message.has_ops()) continue;
      const auto rows = UnpackOps(message.ops());
      EXPECT_TRUE(rows.ok()) << rows.status();
      for (const v1::RankRows& rank : rows->ranks()) {
        for (const v1::CommOp& op : rank.ops()) ops[rank.rank()].push_back(op.sequence());
      }
    }
    return ops;
  }
};

TEST_F(OpsAgentTest, SendsEveryOpOnceBehindItsSummaries) {
  Process(10, 0);
  Process(11, 1);
  collector_.WantOpsOf("jo*");
  StartAgent();
  ASSERT_TRUE(Connected());
  for (int i = 0; i < 100; ++i) TrainStep();
  agent_->Drain();
  ASSERT_TRUE(collector_.WaitFor([](const Messages& messages) {
    return std::any_of(messages.begin(), messages.end(),
                       [](const auto& m) { return m.has_counters() && m.counters().ops() == 400; });
  }));
  const auto came = Came();
  ASSERT_EQ(came.size(), 2u);
  for (const auto& [rank, ops] : came) {
    ASSERT_EQ(ops.size(), 200u);
    for (std::size_t i = 0; i < ops.size(); ++i) EXPECT_EQ(ops[i], i);
  }
  EXPECT_EQ(agent_->totals().ops_streamed.ops, 400u);
  EXPECT_EQ(agent_->totals().ops_streamed.missed, 0u);
  std::set<std::uint64_t> serials;
  std::int64_t summarised = -1;
  for (const v1::AgentMessage& message : collector_.messages()) {
    if (message.has_summary()) {
      summarised = message.summary().first_iteration() + message.summary().duration_us_size() - 1;
    }
    if (!message.has_ops()) continue;
    EXPECT_TRUE(serials.insert(message.ops().serial()).second);
    EXPECT_GE(summarised, 0) << "ops came before any summary";
  }
  EXPECT_GT(serials.size(), 1u) << "in blocks of some seconds";
  agent_.reset();
}

TEST_F(OpsAgentTest, SendsNoneWhereNoneAreWanted) {
  Process(10, 0);
  Process(11, 1);
  collector_.WantOpsOf("other");
  StartAgent();
  ASSERT_TRUE(Connected());
  for (int i = 0; i < 50; ++i) TrainStep();
  Advance(5000 * kMs);
  EXPECT_TRUE(Got([](const v1::AgentMessage& m) { return m.has_summary(); }));
  EXPECT_TRUE(Came().empty());
}

TEST(NamesJob, ANameMayEndOpen) {
  EXPECT_TRUE(NamesJob({"a", "train*"}, "train-7"));
  EXPECT_TRUE(NamesJob({"*"}, "anything"));
  EXPECT_FALSE(NamesJob({"train"}, "train-7"));
  EXPECT_FALSE(NamesJob({}, "train"));
}

}  // namespace
}  // namespace fathom::agent
