#include "diagnosis/peers/probe_judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace fathom::diagnosis {
namespace {

using State = ProbeJudgement::State;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ProbeFigure Rate(double value) { return {"gemm", "flops", "", "flop/s", value, false}; }
ProbeFigure Time(double value) { return {"disk", "sync", "", "s", value, true}; }
ProbeFigure Throttled(double value) { return {"spin", "throttled", "", "ratio", value, true}; }

ProbedNode Node(std::string name, std::vector<ProbeFigure> figures) {
  return {std::move(name), "chip", std::move(figures), {}, {}};
}

std::vector<ProbedNode> PeersAt(const std::vector<double>& rates) {
  std::vector<ProbedNode> peers;
  for (const double rate : rates) peers.push_back(Node("peer", {Rate(rate)}));
  return peers;
}

ProbeJudgement Judge(double rate, const std::vector<double>& peers) {
  return JudgeProbe(Node("suspect", {Rate(rate)}), PeersAt(peers), {}, {});
}

TEST(ProbeJudgement, FindsANodeThatIsFivePercentSlower) {
  const ProbeJudgement judgement = Judge(94.9, {100, 100.2, 99.8, 100.1});
  EXPECT_EQ(judgement.state, State::kSlow);
  ASSERT_THAT(judgement.slow, SizeIs(1));
  EXPECT_NEAR(judgement.slow[0].loss, 0.051, 0.002);
  EXPECT_EQ(judgement.slow[0].references, 4u);
  EXPECT_FALSE(judgement.slow[0].of_past);
}

TEST(ProbeJudgement, AcquitsOneThatIsLikeItsPeersAndSaysWhatItWouldHaveSeen) {
  const ProbeJudgement judgement = Judge(99.5, {100, 100.2, 99.8, 100.1});
  EXPECT_EQ(judgement.state, State::kClean);
  EXPECT_NEAR(judgement.sees, 0.03, 1e-9);
}

TEST(ProbeJudgement, AFasterNodeIsNotSlow) {
  EXPECT_EQ(Judge(150, {100, 100, 100}).state, State::kClean);
}

TEST(ProbeJudgement, PeersThatDifferAmongThemselvesConvictNobody) {
  const ProbeJudgement judgement = Judge(85, {100, 90, 110, 95});
  EXPECT_EQ(judgement.state, State::kClean);
  EXPECT_GT(judgement.sees, 0.15);  // so it refutes nothing smaller
}

TEST(ProbeJudgement, ASickPeerDoesNotHideTheSuspect) {
  EXPECT_EQ(Judge(80, {100, 100.1, 99.9, 100, 70}).state, State::kSlow);
}

TEST(ProbeJudgement, TwoPeersAreTooFew) {
  const ProbeJudgement judgement = Judge(50, {100, 100});
  EXPECT_EQ(judgement.state, State::kUnknown);
  EXPECT_FALSE(judgement.why_unknown.empty());
}

TEST(ProbeJudgement, OtherHardwareIsNoPeer) {
  std::vector<ProbedNode> peers = PeersAt({100, 100, 100});
  for (ProbedNode& peer : peers) peer.hardware = "another chip";
  EXPECT_EQ(JudgeProbe(Node("suspect", {Rate(50)}), peers, {}, {}).state, State::kUnknown);
}

TEST(ProbeJudgement, WithoutPeersItsOwnPastTells) {
  const ProbeJudgement judgement =
      JudgeProbe(Node("suspect", {Rate(80)}), {}, PeersAt({100, 101, 99}), {});
  ASSERT_THAT(judgement.slow, SizeIs(1));
  EXPECT_TRUE(judgement.slow[0].of_past);
}

TEST(ProbeJudgement, TimesAreBetterWhenShorter) {
  const std::vector<ProbedNode> peers(4, Node("peer", {Time(1)}));
  EXPECT_EQ(JudgeProbe(Node("s", {Time(0.5)}), peers, {}, {}).state, State::kClean);
  const ProbeJudgement judgement = JudgeProbe(Node("s", {Time(2)}), peers, {}, {});
  ASSERT_THAT(judgement.slow, SizeIs(1));
  EXPECT_DOUBLE_EQ(judgement.slow[0].loss, 0.5);
}

TEST(ProbeJudgement, SharesAreComparedByTheirDifference) {
  const std::vector<ProbedNode> peers(4, Node("peer", {Throttled(0)}));
  EXPECT_EQ(JudgeProbe(Node("s", {Throttled(0.05)}), peers, {}, {}).state, State::kSlow);
  EXPECT_EQ(JudgeProbe(Node("s", {Throttled(0.01)}), peers, {}, {}).state, State::kClean);
}

TEST(ProbeJudgement, TheSlowestCoreIsComparedWhateverItsName) {
  const auto core = [](const char* where, double value) {
    return Node("n", {{"spin", "slowest_core", where, "ratio", value, false}});
  };
  const std::vector<ProbedNode> peers = {core("cpu1", 1), core("cpu2", 1), core("cpu3", 0.999)};
  EXPECT_EQ(JudgeProbe(core("cpu9", 0.8), peers, {}, {}).state, State::kSlow);
}

TEST(ProbeJudgement, NumaNodesAreComparedEachWithItsOwn) {
  const auto memory = [](double first, double second) {
    return Node("n", {{"m", "read", "node0", "B/s", first, false},
                      {"m", "read", "node1", "B/s", second, false}});
  };
  const std::vector<ProbedNode> peers(3, memory(100, 50));
  EXPECT_EQ(JudgeProbe(memory(100, 50), peers, {}, {}).state, State::kClean);
  const ProbeJudgement judgement = JudgeProbe(memory(50, 100), peers, {}, {});
  ASSERT_THAT(judgement.slow, SizeIs(1));
  EXPECT_EQ(judgement.slow[0].figure.where, "node0");
}

TEST(ProbeJudgement, WhatIsOnlyToldIsNotJudged) {
  const auto told = [](double value) {
    return Node("n", {{"p", "checked", "", "B", value, false}});
  };
  const std::vector<ProbedNode> peers(4, told(100));
  EXPECT_EQ(JudgeProbe(told(1), peers, {}, {}).state, State::kUnknown);
}

TEST(ProbeJudgement, AFaultNeedsNoPeers) {
  ProbedNode suspect = Node("s", {Rate(1)});
  suspect.faults = {{"exact", "cpu1: 1 of 7 results have other bits"}};
  EXPECT_EQ(JudgeProbe(suspect, {}, {}, {}).state, State::kFaulty);
}

TEST(ProbeJudgement, OtherBitsThanPeersThatAgreeAreAFault) {
  std::vector<ProbedNode> peers = PeersAt({100, 100, 100});
  for (ProbedNode& peer : peers) peer.digests["gemm"] = "avx2:aa";
  ProbedNode suspect = Node("s", {Rate(100)});
  suspect.digests["gemm"] = "avx2:ab";
  EXPECT_EQ(JudgeProbe(suspect, peers, {}, {}).state, State::kFaulty);
  suspect.digests["gemm"] = "avx512:ab";  // other instructions may round otherwise
  EXPECT_EQ(JudgeProbe(suspect, peers, {}, {}).state, State::kClean);
  suspect.digests["gemm"] = "avx2:ab";
  peers[0].digests["gemm"] = "avx2:ac";  // they do not agree
  EXPECT_EQ(JudgeProbe(suspect, peers, {}, {}).state, State::kClean);
}

TEST(ProbeJudgement, TheLargestLossComesFirst) {
  const std::vector<ProbedNode> peers(4, Node("peer", {Rate(100), Time(1)}));
  const ProbeJudgement judgement = JudgeProbe(Node("s", {Rate(90), Time(4)}), peers, {}, {});
  ASSERT_THAT(judgement.slow, SizeIs(2));
  EXPECT_EQ(judgement.slow[0].figure.probe, "disk");
}

// Drawn healthy nodes of which each figure varies by 1 %: the probe of 20 figures with seven peers
// accuses fewer than one in a hundred, and one that is 8 % slower in one figure is nearly always
// found.
TEST(ProbeJudgement, DrawnNodesAreJudgedRightly) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1, 0.01);
  const auto draw = [&](double factor) {
    std::vector<ProbeFigure> figures;
    for (int i = 0; i < 20; ++i) {
      figures.push_back({"p", std::to_string(i), "", "B/s", 100 * noise(random), false});
    }
    figures[3].value *= factor;
    return Node("n", std::move(figures));
  };
  int accused = 0;
  int found = 0;
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    std::vector<ProbedNode> peers;
    for (int j = 0; j < 7; ++j) peers.push_back(draw(1));
    accused += JudgeProbe(draw(1), peers, {}, {}).state == State::kSlow ? 1 : 0;
    found += JudgeProbe(draw(0.92), peers, {}, {}).state == State::kSlow ? 1 : 0;
  }
  EXPECT_LT(accused, kTries / 100);
  EXPECT_GT(found, kTries * 8 / 10);
  RecordProperty("accused", accused);
  RecordProperty("found", found);
}

}  // namespace
}  // namespace fathom::diagnosis
