#include "collector/job/orders/source_switches.h"

#include <gtest/gtest.h>

#include "collector/job/orders/asked_stacks.h"
#include "fathom/v1/health.pb.h"
#include "fathom/v1/trace.pb.h"
#include "tests/collector/job/two_node_job.h"

namespace fathom::collector {
namespace {

class SourceSwitchesTest : public TwoNodeJob {
 protected:
  void FeedAll() {
    for (std::uint32_t rank = 0; rank < 4; ++rank) Feed(rank);
  }
  void TellHealth(std::uint32_t rank, std::uint32_t off, std::uint32_t mask = 0) {
    v1::RankHealth health;
    health.set_job("train");
    health.set_rank(rank);
    health.set_sources_off(off);
    health.set_plugin_mask(mask);
    ASSERT_FALSE(job_.Apply(health, Node(rank)));
  }
  static v1::TraceReply Reply(std::uint32_t rank, const std::string& state, std::uint64_t id = 1) {
    v1::TraceReply reply;
    reply.set_request_id(id);
    reply.set_job("train");
    auto& told = *reply.add_ranks();
    told.set_rank(rank);
    told.set_state(state);
    told.set_at_sequence(1175);
    return reply;
  }
  RankSwitchState StateOf(std::uint32_t rank) { return job_.switches().ranks().at(RankId(rank)); }
};

TEST_F(SourceSwitchesTest, AllRanksSwitchBehindTheSameOp) {
  FeedAll();
  const auto orders = job_.PlanSwitch(1, {.off = kPython | kCuda});
  ASSERT_TRUE(orders.ok()) << orders.status();
  ASSERT_EQ(orders->asks.size(), 2u) << "one a node";
  EXPECT_EQ(orders->asks[0].at_sequence, orders->asks[1].at_sequence);
  EXPECT_EQ(orders->asks[0].words.sources_disabled, std::uint32_t{kPython | kCuda});
  const auto last = static_cast<std::uint64_t>(job_.switches().first_iteration() - 1);
  EXPECT_GE(last, 19u + 15) << "the last agent hears of it in time";
  EXPECT_EQ(orders->asks[0].at_sequence, 1000 + last * 5) << "the op that closes the one before";
}

TEST_F(SourceSwitchesTest, RanksOfOtherAnchorsGetTheirOwnSequence) {
  Feed(0);
  Feed(1);
  Feed(2, kOtherGroup, 3);
  const auto orders = job_.PlanSwitch(1, {.off = kPython});
  ASSERT_TRUE(orders.ok());
  ASSERT_EQ(orders->asks.size(), 2u);
  EXPECT_NE(orders->asks[0].at_sequence, orders->asks[1].at_sequence);
  EXPECT_EQ(StateOf(3).reason, "no_period");
}

TEST_F(SourceSwitchesTest, AnOrderChangesWhatIsOffNow) {
  FeedAll();
  for (std::uint32_t rank = 0; rank < 4; ++rank) TellHealth(rank, kPython | kCuda);
  const auto on = job_.PlanSwitch(1, {.on = kPython});
  ASSERT_TRUE(on.ok());
  EXPECT_EQ(on->asks[0].words.sources_disabled, std::uint32_t{kCuda});
  TellHealth(3, 0);
  const auto mixed = job_.PlanSwitch(2, {.off = kCupti});
  ASSERT_EQ(mixed->asks.size(), 3u) << "rank 3 of node b has other words than rank 2";
}

TEST_F(SourceSwitchesTest, ThePluginIsAskedForWhatItIsNotByItself) {
  FeedAll();
  const auto on = job_.PlanSwitch(1, {.on = kNcclPlugin});
  EXPECT_EQ(on->asks[0].words.plugin_mask >> 31, 1u);
  EXPECT_EQ(on->asks[0].words.plugin_mask >> 30 & 1, 0u) << "a bit of the tracer's own";
  for (std::uint32_t rank = 0; rank < 4; ++rank) TellHealth(rank, 0, 1u << 31 | 0xffff);
  const auto kept = job_.PlanSwitch(2, {.off = kCuda});
  EXPECT_NE(kept->asks[0].words.plugin_mask, 0u);
  const auto off = job_.PlanSwitch(3, {.off = kNcclPlugin});
  EXPECT_EQ(off->asks[0].words.plugin_mask, 0u);
}

TEST_F(SourceSwitchesTest, ThePluginIsSwitchedOnAllRanksOrNone) {
  FeedAll();
  const auto some = job_.PlanSwitch(1, {.off = kNcclPlugin, .ranks = {RankId(1)}});
  EXPECT_TRUE(absl::IsInvalidArgument(some.status()));
  EXPECT_TRUE(job_.PlanSwitch(1, {.off = kNcclPlugin}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(job_.PlanSwitch(1, {.off = kCuda, .on = kCuda}).status()));
}

TEST_F(SourceSwitchesTest, UnknownRanksAndThoseWithoutIterationsAreTold) {
  EXPECT_TRUE(absl::IsFailedPrecondition(job_.PlanSwitch(1, {.off = kCuda}).status()));
  FeedAll();
  const auto unknown = job_.PlanSwitch(1, {.off = kCuda, .ranks = {RankId(9)}});
  EXPECT_TRUE(absl::IsFailedPrecondition(unknown.status()));
  EXPECT_EQ(job_.switches().id(), 0u) << "nothing was ordered";
  ASSERT_TRUE(job_.PlanSwitch(1, {.off = kCuda, .ranks = {RankId(2), RankId(9)}}).ok());
  EXPECT_EQ(StateOf(2).state, "asked");
  EXPECT_EQ(StateOf(9).reason, "unknown_rank");
  EXPECT_EQ(job_.switches().ranks().count(RankId(0)), 0u);
}

TEST_F(SourceSwitchesTest, RepliesAreTakenFromTheRanksAgentForTheNewestOrder) {
  FeedAll();
  EXPECT_EQ(job_.Apply(Reply(0, "done"), "a"), RejectReason::kUnasked);
  const auto orders = job_.PlanSwitch(1, {.off = kCuda});
  EXPECT_EQ(job_.Apply(Reply(0, "done"), "b"), RejectReason::kNotOwner);
  EXPECT_FALSE(job_.Apply(Reply(0, "waits"), "a"));
  EXPECT_FALSE(job_.Apply(Reply(0, "done"), "a"));
  EXPECT_EQ(StateOf(0).at_sequence, 1175u);
  EXPECT_EQ(job_.Figures().switched_off.at("cuda"), 1u) << "before its health tells it";
  EXPECT_FALSE(job_.Apply(Reply(0, "waits"), "a"));
  EXPECT_EQ(StateOf(0).state, "done") << "a repeat of what was before";
  job_.RefuseSwitch(1, orders->asks[1], "agent_away");
  EXPECT_EQ(StateOf(3).reason, "agent_away");
  ASSERT_TRUE(job_.PlanSwitch(2, {.on = kCuda}).ok());
  EXPECT_EQ(job_.Apply(Reply(0, "done", 1), "a"), RejectReason::kUnasked);
}

// NCCL is linked statically on rank 3.
TEST_F(SourceSwitchesTest, WhereThePluginAloneTellsIsSaid) {
  const auto ops = [&] {
    for (const auto& signal : job_.SignalStates()) {
      if (signal.name == "communication_ops") return signal;
    }
    return diagnosis::SignalState{};
  };
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    v1::RankHealth health;
    health.set_job("train");
    health.set_rank(rank);
    health.set_sources_seen(kNccl | kNcclPlugin);
    ASSERT_FALSE(job_.Apply(health, Node(rank)));
  }
  const diagnosis::SignalState before = ops();
  EXPECT_EQ(before.hides.find("statically"), std::string::npos);
  v1::RankHealth health;
  health.set_job("train");
  health.set_rank(3);
  health.set_sources_seen(kNcclPlugin);
  ASSERT_FALSE(job_.Apply(health, Node(3)));
  EXPECT_NE(ops().hides.find("NCCL is linked statically on 1 ranks"), std::string::npos);
  EXPECT_NE(ops().level, diagnosis::SignalState::Level::kOn);
}

TEST_F(SourceSwitchesTest, WhatIsOffHidesWhatItHides) {
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    TellHealth(rank, rank < 3 ? std::uint32_t{kPython} : 0u);
  EXPECT_EQ(job_.Figures().switched_off.at("python"), 3u);
  for (const auto& signal : job_.SignalStates()) {
    const bool told =
        signal.hides.find("switched off by `fathom trace` on 3 ranks") != std::string::npos;
    EXPECT_EQ(told, signal.name == "python_marks") << signal.name;
  }
}

v1::StackReply StackOf(std::uint32_t rank, const std::string& error = "") {
  v1::StackReply reply;
  reply.set_request_id(1);
  reply.set_job("train");
  auto& stack = *reply.add_ranks();
  stack.set_rank(rank);
  stack.set_error(error);
  if (error.empty()) stack.mutable_stack()->add_frames("step (train.py:7)");
  return reply;
}

TEST_F(SourceSwitchesTest, StacksAreAskedOfTheNodesAndKept) {
  EXPECT_TRUE(absl::IsFailedPrecondition(job_.PlanStacks(1, {RankId(9)}).status()));
  const auto asks = job_.PlanStacks(1, {RankId(1), RankId(2), RankId(9)});
  ASSERT_TRUE(asks.ok());
  ASSERT_EQ(asks->size(), 2u);
  EXPECT_FALSE(job_.Apply(StackOf(1), "a"));
  EXPECT_FALSE(job_.Apply(StackOf(2, "denied"), "b"));
  EXPECT_EQ(job_.Apply(StackOf(0), "a"), RejectReason::kUnasked);
  const AskedStacks stacks = job_.stacks();
  EXPECT_EQ(stacks.ranks().at(RankId(1)).frames.at(0), "step (train.py:7)");
  EXPECT_EQ(stacks.ranks().at(RankId(2)).state, "refused");
  EXPECT_EQ(stacks.ranks().at(RankId(2)).reason, "denied");
  EXPECT_EQ(stacks.ranks().at(RankId(9)).reason, "unknown_rank");
  std::vector<RankId> many;
  for (std::uint32_t rank = 0; rank <= AskedStacks::kMaxStacks; ++rank) many.emplace_back(rank);
  EXPECT_TRUE(absl::IsInvalidArgument(job_.PlanStacks(2, many).status()));
}

}  // namespace
}  // namespace fathom::collector
