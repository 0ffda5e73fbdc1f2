// Rows that a collector asks an agent for.
#include <gtest/gtest.h>

#include <limits>

#include "tests/daemon/agent/agent_fixture.h"

namespace fathom::agent {
namespace {

TEST_F(AgentTest, AnswersRequestsForRows) {
  Process(10, 0);
  Process(11, 1);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  Advance(300 * kMs);
  ASSERT_TRUE(Connected());
  v1::RowsRequest request;
  request.set_request_id(9);
  request.set_job("job");
  request.add_ranks(0);
  request.add_ranks(1);
  request.add_iterations(20);
  request.add_iterations(999);
  request.add_iterations(std::numeric_limits<std::int64_t>::max());
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return m.has_rows(); }));
  const v1::RowsReply rows = collector_.messages().back().rows();
  EXPECT_EQ(rows.request_id(), 9u);
  ASSERT_EQ(rows.ranks_size(), 2);
  ASSERT_EQ(rows.ranks(1).ops_size(), 2);
  EXPECT_EQ(rows.ranks(1).ops(0).iteration(), 20);
  EXPECT_EQ(rows.ranks(1).ops(0).sequence(), 40u);
  EXPECT_NE(rows.ranks(1).ops(0).group(), 0u);
  ASSERT_EQ(rows.ranks(0).iterations_missing_size(), 2);
  EXPECT_EQ(rows.ranks(0).iterations_missing(0), 999);
}

TEST_F(AgentTest, RowsAreCutWhereAskedAndUnknownRanksAreAnError) {
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  ASSERT_TRUE(Connected());
  v1::RowsRequest request;
  request.set_job("job");
  request.add_ranks(0);
  request.add_iterations(5);
  request.set_max_rows_per_rank(1);
  collector_.Ask(request);
  request.set_job("nobody");
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return !m.rows().error().empty(); }));
  const Messages got = collector_.messages();
  EXPECT_TRUE(got[got.size() - 2].rows().ranks(0).truncated());
}

// Part of an iteration would pass for all of it.
TEST_F(AgentTest, OfSeveralIterationsNoneIsSentInPart) {
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  ASSERT_TRUE(Connected());
  v1::RowsRequest request;
  request.set_job("job");
  request.add_ranks(0);
  for (const std::int64_t iteration : {5, 6, 7}) request.add_iterations(iteration);
  request.set_max_rows_per_rank(3);
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return m.rows().ranks_size() > 0; }));
  const v1::RankRows rows = collector_.messages().back().rows().ranks(0);
  EXPECT_TRUE(rows.truncated());
  ASSERT_EQ(rows.ops_size(), 2);
  EXPECT_EQ(rows.ops(0).iteration(), 5);
  EXPECT_EQ(rows.ops(1).iteration(), 5);
}

TEST_F(AgentTest, RowsOfADeadRankCanStillBeHad) {
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  Live(10, false);
  Advance(300 * kMs);
  ASSERT_TRUE(Connected());
  v1::RowsRequest request;
  request.set_job("job");
  request.add_ranks(0);
  request.add_iterations(29);
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return m.has_rows(); }));
  EXPECT_EQ(collector_.messages().back().rows().ranks(0).ops_size(), 2);
}

}  // namespace
}  // namespace fathom::agent
