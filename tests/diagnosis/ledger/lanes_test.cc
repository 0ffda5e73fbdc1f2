// Messages that share a kernel, as the exchanges of ring attention do.
#include "diagnosis/ledger/lanes.h"

#include <gtest/gtest.h>

#include <array>

#include "diagnosis/model/config.h"

namespace fathom::diagnosis {
namespace {

constexpr std::int64_t kMilli = 1'000'000;

CommOp InKernel(CollectiveKind kind, std::uint32_t peer, std::int64_t begin, std::int64_t end) {
  CommOp op;
  op.group = GroupId(1);
  op.kind = kind;
  op.bytes = 4096;
  op.peer = RankId(peer);
  op.thread = 1;
  op.iteration = Iteration(1);
  op.enter = op.api_return = MonoNs(kMilli);
  op.exec_start = MonoNs(begin * kMilli);
  op.end = MonoNs(end * kMilli);
  op.on_device = true;
  op.device_at_arrival = Nanos(0);
  return op;
}

// Each rank sends to the next and receives from the one before, in one kernel. Rank 0 comes at 90:
// its neighbours stay in theirs until 91, rank 2, which has none of it, from 30 to 51.
JobView Ring(const std::array<std::string, 4>& nodes) {
  constexpr std::array<std::int64_t, 4> kBegins = {90, 50, 30, 50}, kEnds = {91, 91, 51, 91};
  JobView view;
  view.world_size = 4;
  Group group;
  group.id = GroupId(1);
  IterationSummary& iteration = view.window.emplace_back();
  iteration.index = Iteration(1);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    group.members.push_back(RankId(rank));
    RankFacts facts;
    facts.rank = RankId(rank);
    facts.node = nodes[rank];
    view.ranks.push_back(facts);
    RankIteration& mine = iteration.ranks.emplace_back();
    mine.rank = RankId(rank);
    mine.begin = MonoNs(kMilli);
    mine.duration = Nanos(100 * kMilli);
    const std::int64_t begin = kBegins[rank], end = kEnds[rank];
    view.rows[RankId(rank)].ops = {InKernel(CollectiveKind::kSend, (rank + 1) % 4, begin, end),
                                   InKernel(CollectiveKind::kRecv, (rank + 3) % 4, begin, end)};
  }
  view.groups = {group};
  return view;
}

const Join* MessageBetween(const LaneGraph& graph, std::size_t a, std::size_t b) {
  for (const Join& join : graph.joins) {
    if (join.lanes == std::vector<std::size_t>{a, b}) return &join;
  }
  return nullptr;
}

std::vector<LaneGraph> LanesOf(const JobView& view) {
  const DiagnosisConfig config;
  return BuildLanes(view, ExecutionGraph(view, {}, Iteration(-1), config));
}

// By itself no kernel of ranks 1 and 2 tells that their message took 1 ms: each waits for another.
TEST(LanesTest, AMessageOfABatchTakesWhatBothKernelsShare) {
  const std::vector<LaneGraph> graphs = LanesOf(Ring({"a", "a", "a", "a"}));
  ASSERT_EQ(graphs.size(), 1u);
  const Join* const message = MessageBetween(graphs[0], 1, 2);
  ASSERT_NE(message, nullptr);
  EXPECT_TRUE(message->comparable);
  EXPECT_NEAR(message->transfer, 0.001, 1e-9);
}

// Clocks of nodes tell nothing, but who comes last to a turn waits for nobody.
TEST(LanesTest, BetweenNodesAnExchangeIsToldOfTheWholeRing) {
  const std::vector<LaneGraph> graphs = LanesOf(Ring({"a", "a", "b", "b"}));
  ASSERT_EQ(graphs.size(), 1u);
  const Join* const across = MessageBetween(graphs[0], 1, 2);
  EXPECT_TRUE(across->comparable && across->of_group);
  EXPECT_NEAR(across->transfer, 0.001, 1e-9);
  EXPECT_FALSE(MessageBetween(graphs[0], 0, 1)->of_group);
}

// The near miss: where one takes more turns than the others nobody knows which belong together.
TEST(LanesTest, BetweenNodesUnequalTurnsAreComparedWithNone) {
  JobView view = Ring({"a", "b", "c", "d"});
  CommOp& receive = view.rows[RankId(3)].ops[1];
  receive.exec_start = MonoNs(20 * kMilli);
  receive.end = MonoNs(49 * kMilli);
  const std::vector<LaneGraph> graphs = LanesOf(view);
  ASSERT_EQ(graphs.size(), 1u);
  EXPECT_FALSE(MessageBetween(graphs[0], 1, 2)->comparable);
}

// The near miss: a kernel of one message needs no clock but its own.
TEST(LanesTest, AMessageAloneInItsKernelNeedsNoClock) {
  JobView view = Ring({"a", "a", "b", "b"});
  for (auto& [rank, rows] : view.rows) {
    const bool pair = rank == RankId(1) || rank == RankId(2);
    rows.ops = {rows.ops[rank == RankId(1) || !pair ? 0 : 1]};
  }
  const std::vector<LaneGraph> graphs = LanesOf(view);
  ASSERT_EQ(graphs.size(), 1u);
  const Join* const message = MessageBetween(graphs[0], 1, 2);
  ASSERT_NE(message, nullptr);
  EXPECT_TRUE(message->comparable);
  EXPECT_NEAR(message->transfer, 0.021, 1e-9);
}

}  // namespace
}  // namespace fathom::diagnosis
