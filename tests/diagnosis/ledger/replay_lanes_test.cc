#include "diagnosis/ledger/replay_lanes.h"

#include <gtest/gtest.h>

#include <random>

namespace fathom::diagnosis {
namespace {

LaneStep Arrive(double own, std::size_t join) {
  return {own, LaneAct::kArrive, 0, join, kNoJoin, 0};
}
LaneStep WaitFor(double own, std::size_t join) {
  return {own, LaneAct::kWait, 0, join, kNoJoin, 1};
}
LaneStep End(double own) { return {own, LaneAct::kEnd, 0, kNoJoin, kNoJoin, 0}; }

// Rank 1 computes 3 s, rank 0 one; both meet, and go on for another second.
LaneGraph TwoThatMeet() {
  LaneGraph graph;
  graph.iterations = {Iteration(0)};
  graph.joins.resize(1);
  graph.joins[0].lanes = {0, 1};
  graph.joins[0].transfer = 0.5;
  graph.lanes = {{RankId(0), {Arrive(1, 0), WaitFor(0, 0), End(1)}},
                 {RankId(1), {Arrive(3, 0), WaitFor(0, 0), End(1)}}};
  return graph;
}

TEST(LaneReplayTest, AJoinEndsAfterItsLastMember) {
  const LaneGraph graph = TwoThatMeet();
  LaneReplay replay(graph);
  EXPECT_DOUBLE_EQ(replay.Play({}).back(), 4.5);
  EXPECT_EQ(replay.forced(), 0u);
}

TEST(LaneReplayTest, MendingTheVictimWinsNothing) {
  const LaneGraph graph = TwoThatMeet();
  LaneReplay replay(graph);
  EXPECT_DOUBLE_EQ(replay.Play({{{0.1}, {1.0}}, {}}).back(), 4.5);
  EXPECT_DOUBLE_EQ(replay.Play({{{1.0}, {0.5}}, {}}).back(), 3.0);
  EXPECT_DOUBLE_EQ(replay.Play({{}, {0.0}}).back(), 4.0);
}

TEST(LaneReplayTest, WhatOverlapHidesCostsNothing) {
  LaneGraph graph = TwoThatMeet();
  for (Lane& lane : graph.lanes) lane.steps[1].own = 10;  // both compute on before they wait
  LaneReplay replay(graph);
  const double whole = replay.Play({}).back();
  EXPECT_DOUBLE_EQ(replay.Play({{}, {0.0}}).back(), whole);
}

TEST(LaneReplayTest, AChainedOpFollowsTheOneBeforeIt) {
  LaneGraph graph = TwoThatMeet();
  graph.joins.push_back(graph.joins[0]);
  for (Lane& lane : graph.lanes) {
    LaneStep chained{0, LaneAct::kChained, 0, 1, 0, 0.25};
    lane.steps = {lane.steps[0], chained, WaitFor(0, 1), End(0)};
  }
  LaneReplay replay(graph);
  EXPECT_DOUBLE_EQ(replay.Play({}).back(), 3 + 0.5 + 0.25 + 0.5);
}

TEST(LaneReplayTest, ACycleEndsByWhatWasRecorded) {
  LaneGraph graph;
  graph.iterations = {Iteration(0)};
  graph.joins.resize(2);
  graph.joins[0].lanes = graph.joins[1].lanes = {0, 1};
  graph.lanes = {{RankId(0), {WaitFor(1, 1), Arrive(0, 0), Arrive(0, 1), End(0)}},
                 {RankId(1), {WaitFor(1, 0), Arrive(0, 1), Arrive(0, 0), End(0)}}};
  LaneReplay replay(graph);
  EXPECT_GE(replay.Play({}).back(), 2.0);
  EXPECT_GT(replay.forced(), 0u);
}

// Drawn jobs: never longer by a piece that became shorter, and the same for all names of the ranks.
TEST(LaneReplayTest, ShorterPiecesNeverMakeADrawnJobLonger) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> seconds(0, 1);
  for (int drawn = 0; drawn < 10'000; ++drawn) {
    const std::size_t ranks = 2 + random() % 4, ops = 1 + random() % 6;
    LaneGraph graph;
    graph.iterations = {Iteration(0)};
    graph.joins.resize(ops);
    graph.lanes.resize(ranks);
    LaneScales scales;
    for (std::size_t j = 0; j < ops; ++j) graph.joins[j].transfer = seconds(random);
    for (std::size_t l = 0; l < ranks; ++l) {
      for (std::size_t j = 0; j < ops; ++j) {
        graph.joins[j].lanes.push_back(l);
        graph.lanes[l].steps.push_back(Arrive(seconds(random), j));
        if (random() % 2 == 0) graph.lanes[l].steps.push_back(WaitFor(seconds(random), j));
      }
      graph.lanes[l].steps.push_back(End(seconds(random)));
      scales.own.push_back({seconds(random)});
    }
    LaneReplay replay(graph);
    const double whole = replay.Play({}).back();
    const double shorter = replay.Play(scales).back();
    ASSERT_LE(shorter, whole + 1e-12);
    std::reverse(graph.lanes.begin(), graph.lanes.end());
    LaneReplay renamed(graph);
    ASSERT_DOUBLE_EQ(renamed.Play({}).back(), whole);
  }
}

}  // namespace
}  // namespace fathom::diagnosis
