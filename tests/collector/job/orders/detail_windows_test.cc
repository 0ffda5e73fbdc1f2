#include "collector/job/orders/detail_windows.h"

#include <gtest/gtest.h>

#include "fathom/v1/window.pb.h"
#include "tests/collector/job/two_node_job.h"

namespace fathom::collector {
namespace {

class DetailWindowsTest : public TwoNodeJob {
 protected:
  v1::WindowReply Reply(std::uint32_t rank, const std::string& state, std::uint64_t id = 1) {
    v1::WindowReply reply;
    reply.set_request_id(id);
    reply.set_job("train");
    auto& window = *reply.add_ranks();
    window.set_rank(rank);
    window.set_state(state);
    auto& sum = *window.add_sums();
    sum.set_kind("kernel");
    sum.set_name("gemm");
    sum.set_count(10);
    sum.set_total_ns(5'000'000);
    return reply;
  }
};

TEST_F(DetailWindowsTest, AllRanksOpenAndCloseAtTheSameOp) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) Feed(rank);
  const auto orders = job_.PlanWindow(1, {1, {}});
  ASSERT_TRUE(orders.ok()) << orders.status();
  ASSERT_EQ(orders->asks.size(), 2u) << "one a node";
  EXPECT_EQ(orders->asks[0].open_sequence, orders->asks[1].open_sequence);
  EXPECT_EQ(orders->asks[0].close_sequence, orders->asks[1].close_sequence);
  EXPECT_EQ(orders->asks[0].ranks, (std::vector<RankId>{RankId(0), RankId(1)}));
  const DetailWindows detail = job_.detail();
  EXPECT_EQ(detail.iterations(), 10) << "a second of 100 ms each";
  EXPECT_GE(detail.first_iteration(), 20 + 15) << "the last agent hears of it in time";
  // Iteration 19 was closed by anchor 1000 + 19 × 5.
  const auto last_before = static_cast<std::uint64_t>(detail.first_iteration() - 1);
  EXPECT_EQ(orders->asks[0].open_sequence, 1000 + last_before * 5 + 1);
  EXPECT_EQ(orders->asks[0].close_sequence, 1000 + (last_before + 10) * 5);
}

TEST_F(DetailWindowsTest, RanksOfOtherAnchorsGetTheirOwnSequences) {
  Feed(0);
  Feed(1);
  Feed(2, kOtherGroup, 3);
  const auto orders = job_.PlanWindow(1, {1, {}});
  ASSERT_TRUE(orders.ok());
  ASSERT_EQ(orders->asks.size(), 2u);
  const auto iterations = static_cast<std::uint64_t>(job_.detail().iterations());
  EXPECT_EQ(orders->asks[0].close_sequence - orders->asks[0].open_sequence, 5 * iterations - 1);
  EXPECT_EQ(orders->asks[1].close_sequence - orders->asks[1].open_sequence, 3 * iterations - 1);
  EXPECT_EQ(job_.detail().ranks().at(RankId(3)).reason, "no_period");
}

TEST_F(DetailWindowsTest, OnlyTheRanksAskedForAndOneWindowAtATime) {
  EXPECT_FALSE(job_.PlanWindow(1, {1, {}}).ok()) << "no iteration is known yet";
  for (std::uint32_t rank = 0; rank < 4; ++rank) Feed(rank);
  EXPECT_FALSE(job_.PlanWindow(1, {1, {RankId(9)}}).ok());
  ASSERT_TRUE(job_.PlanWindow(1, {1, {RankId(3)}}).ok());
  EXPECT_EQ(job_.detail().ranks().size(), 1u);
  EXPECT_FALSE(job_.PlanWindow(2, {1, {}}).ok());
  EXPECT_EQ(job_.Apply(Reply(3, "closed"), "b"), Rejection());
  EXPECT_TRUE(job_.PlanWindow(2, {1, {}}).ok());
}

TEST_F(DetailWindowsTest, RepliesFillTheView) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) Feed(rank);
  ASSERT_TRUE(job_.PlanWindow(1, {1, {}}).ok());
  EXPECT_EQ(job_.Apply(Reply(0, "closed"), "a"), Rejection());
  EXPECT_EQ(job_.Apply(Reply(1, "refused"), "a"), Rejection());
  EXPECT_EQ(job_.Apply(Reply(2, "closed"), "a"), Rejection(RejectReason::kNotOwner));
  EXPECT_EQ(job_.Apply(Reply(2, "closed", 9), "b"), Rejection(RejectReason::kUnasked));
  const auto windows = job_.detail().View();
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows.at(RankId(0))->sums.front().name, "gemm");
  EXPECT_EQ(windows.at(RankId(0))->iterations, 10);
  clock_.Advance(Nanos(60'000'000'000));
  EXPECT_TRUE(job_.PlanWindow(2, {1, {}}).ok()) << "what never answered is given up";
}

}  // namespace
}  // namespace fathom::collector
