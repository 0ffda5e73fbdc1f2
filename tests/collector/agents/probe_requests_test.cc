// Orders for probes: who is asked, what comes back, how it is judged, and what verdicts make of it.
#include "collector/agents/probe_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "collector/evaluate/probe_verdicts.h"
#include "fathom/v1/agent.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;

struct Channel final : RowsChannel {
  bool Pass(v1::CollectorMessage message) override {
    if (!message.has_probe()) return false;
    sent.push_back(message.probe());
    return true;
  }
  std::vector<v1::ProbeOrder> sent;
};

std::string Lines(double value) {
  return R"({"machine":{"cpu_model":"A Chip","instructions":"avx2","cores":8,"cores_allowed":8,)"
         R"("numa_nodes":1,"memory_bytes":"34359738368"}})"
         "\n"
         R"({"result":{"probe":"gemm","outcome":"done","figures":[{"name":"flops","value":)" +
         std::to_string(value) + R"(,"unit":"flop/s"}]}})" + "\n";
}

struct ProbeRequestsTest : testing::Test {
  void SetUp() override {
    for (int i = 0; i < 4; ++i) {
      const std::string node = "n" + std::to_string(i);
      channels.push_back(std::make_shared<Channel>());
      registry.Connect(static_cast<std::uint64_t>(i) + 1, HelloFrom(node).hello(), channels.back());
      all.push_back(node);
    }
  }

  std::uint64_t Ask(ProbeWish wish) {
    const auto id = requests.Ask(wish);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or(0);
  }

  Rejection Answer(const std::string& node, std::uint64_t id, double value) {
    v1::ProbeAnswer answer;
    answer.set_request_id(id);
    answer.set_lines(Lines(value));
    return requests.OnAnswer(node, answer);
  }

  FakeClock clock;
  SessionRegistry registry{clock};
  std::vector<std::shared_ptr<Channel>> channels;
  std::vector<std::string> all;
  std::vector<v1::NodeProbe> history;
  std::vector<ProbeRequest> done;
  ProbeRequests requests{registry, clock, [this](const std::string&) { return history; },
                         [this](const ProbeRequest& each) { done.push_back(each); }};
};

TEST_F(ProbeRequestsTest, EachNodeIsAskedForWhatWasWished) {
  const std::uint64_t id =
      Ask({.nodes = {"n1", "n2"}, .full = true, .probes = "exact", .seconds = 9});
  EXPECT_TRUE(channels[0]->sent.empty());
  ASSERT_EQ(channels[1]->sent.size(), 1u);
  const v1::ProbeOrder& order = channels[1]->sent[0];
  EXPECT_EQ(order.request_id(), id);
  EXPECT_TRUE(order.full());
  EXPECT_EQ(order.probes(), "exact");
  EXPECT_EQ(order.seconds(), 9);
  EXPECT_FALSE(order.beside_training());
  EXPECT_EQ(requests.Find(id)->waits.size(), 2u);
}

TEST_F(ProbeRequestsTest, TheSlowOneIsFoundAmongItsPeersOnceAllHaveAnswered) {
  const std::uint64_t id = Ask({.nodes = all});
  EXPECT_EQ(Answer("n0", id, 80), std::nullopt);
  EXPECT_EQ(Answer("n1", id, 100), std::nullopt);
  EXPECT_EQ(Answer("n2", id, 101), std::nullopt);
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(Answer("n3", id, 99), std::nullopt);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].runs.at("n0").judgement().state(), "slow");
  EXPECT_EQ(done[0].runs.at("n0").judgement().slow(0).against(), "peers");
  EXPECT_EQ(done[0].runs.at("n1").judgement().state(), "clean");
  EXPECT_TRUE(requests.Find(id)->ended.known());
}

TEST_F(ProbeRequestsTest, WithoutPeersItsOwnPastTells) {
  for (const double value : {100.0, 101.0, 99.0}) {
    const std::uint64_t id = Ask({.nodes = {"n0"}});
    Answer("n0", id, value);
    history.push_back(done.back().runs.at("n0"));
  }
  const std::uint64_t id = Ask({.nodes = {"n0"}});
  Answer("n0", id, 85);
  EXPECT_EQ(done.back().runs.at("n0").judgement().state(), "slow");
  EXPECT_EQ(done.back().runs.at("n0").judgement().slow(0).against(), "past");
}

TEST_F(ProbeRequestsTest, WhatNobodyAskedForAndWhatComesTwiceIsNotTaken) {
  const std::uint64_t id = Ask({.nodes = {"n0", "n1"}});
  EXPECT_EQ(Answer("n0", id + 1, 1), RejectReason::kUnasked);
  EXPECT_EQ(Answer("n3", id, 1), RejectReason::kUnasked);
  EXPECT_EQ(Answer("n0", id, 1), std::nullopt);
  EXPECT_EQ(Answer("n0", id, 1), RejectReason::kUnasked);
}

TEST_F(ProbeRequestsTest, AnAgentOutOfReachIsToldAtOnce) {
  Ask({.nodes = {"elsewhere"}});
  ASSERT_EQ(done.size(), 1u);
  EXPECT_THAT(done[0].runs.at("elsewhere").refused(), HasSubstr("out of reach"));
}

TEST_F(ProbeRequestsTest, WhoDoesNotAnswerIsGivenUpWhenTheTimeIsOver) {
  const std::uint64_t id = Ask({.nodes = {"n0", "n1"}, .seconds = 10});
  Answer("n0", id, 100);
  clock.AdvanceSeconds(60);
  requests.Expire();
  EXPECT_TRUE(done.empty());
  clock.AdvanceSeconds(120);
  requests.Expire();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_THAT(done[0].runs.at("n1").refused(), HasSubstr("did not answer in time"));
}

TEST_F(ProbeRequestsTest, WhatANodeBabblesIsRefusedWithTheReason) {
  const std::uint64_t id = Ask({.nodes = {"n0"}});
  v1::ProbeAnswer answer;
  answer.set_request_id(id);
  answer.set_lines("a warning of the program\n{\"result\":\n");
  requests.OnAnswer("n0", answer);
  EXPECT_THAT(done.back().runs.at("n0").refused(), HasSubstr("cannot be read"));
}

TEST_F(ProbeRequestsTest, BadWishesAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(requests.Ask({}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(requests.Ask({.nodes = {"n0"}, .seconds = -1}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(requests.Ask({.nodes = {"n0"}, .probes = "a b;c"}).status()));
  const std::vector<std::string> many(ProbeRequests::kMostNodes + 1, "n0");
  EXPECT_TRUE(absl::IsInvalidArgument(requests.Ask({.nodes = many}).status()));
}

TEST_F(ProbeRequestsTest, OnlySoManyAtOnce) {
  for (std::size_t i = 0; i < ProbeRequests::kMostUnderWay; ++i) Ask({.nodes = {"n0"}});
  EXPECT_TRUE(absl::IsResourceExhausted(requests.Ask({.nodes = {"n0"}}).status()));
}

TEST_F(ProbeRequestsTest, StopReachesThoseThatAreAwaited) {
  const std::uint64_t id = Ask({.nodes = {"n0", "n1"}});
  Answer("n0", id, 100);
  EXPECT_TRUE(requests.Stop(id).ok());
  EXPECT_EQ(channels[0]->sent.size(), 1u);
  ASSERT_EQ(channels[1]->sent.size(), 2u);
  EXPECT_TRUE(channels[1]->sent[1].stop());
  EXPECT_TRUE(absl::IsNotFound(requests.Stop(id + 1)));
}

// What a probe says of a verdict.

diagnosis::Verdict SlowNode(double slowdown, diagnosis::Cause cause) {
  diagnosis::Verdict verdict;
  verdict.grade = diagnosis::Grade::kEstablished;
  verdict.cause = cause;
  verdict.entity.node = "n0";
  verdict.cost.slowdown = slowdown;
  return verdict;
}

v1::NodeProbe Judged(const std::string& state, double sees) {
  v1::NodeProbe run;
  run.set_node("n0");
  run.mutable_judgement()->set_state(state);
  run.mutable_judgement()->set_sees(sees);
  if (state == "slow") {
    v1::ProbeFinding& slow = *run.mutable_judgement()->add_slow();
    slow.set_figure("gpu_gemm_bf16");
    slow.set_where("gpu3");
    slow.set_loss(0.12);
    slow.set_references(3);
    slow.set_against("peers");
  }
  return run;
}

constexpr auto kCompute = diagnosis::Cause::kComputeSlow;

TEST(ProbeVerdicts, ASlowFigureConfirmsAndSaysWhich) {
  const ProbeProof proof = ProofOf(SlowNode(1.3, kCompute), Judged("slow", 0.04), 7, WallNs(5));
  EXPECT_EQ(proof.state, "confirmed");
  EXPECT_THAT(proof.sentence, HasSubstr("gpu_gemm_bf16 of gpu3 is 12.0 % slower than on 3 peers"));
}

TEST(ProbeVerdicts, ACleanNodeRefutesWhatTheProbeWouldHaveSeen) {
  diagnosis::Verdict verdict = SlowNode(1.3, kCompute);  // a loss of 23 %
  const ProbeProof proof = ProofOf(verdict, Judged("clean", 0.04), 7, WallNs(5));
  EXPECT_EQ(proof.state, "refuted");
  TellProof(proof, verdict);
  EXPECT_EQ(verdict.grade, diagnosis::Grade::kSupported);
  ASSERT_EQ(verdict.counter_evidence.size(), 1u);
  EXPECT_EQ(verdict.counter_evidence[0].source, "probe");
}

TEST(ProbeVerdicts, ACleanNodeSaysNothingOfWhatItCouldNotSee) {
  EXPECT_FALSE(ProofOf(SlowNode(1.03, kCompute), Judged("clean", 0.04), 7, WallNs(5)).known());
  EXPECT_FALSE(ProofOf(SlowNode(1.3, kCompute), Judged("unknown", 0), 7, WallNs(5)).known());
  const auto host = diagnosis::Cause::kHostSlow;
  EXPECT_FALSE(ProofOf(SlowNode(1.3, host), Judged("clean", 0.04), 7, WallNs(5)).known());
}

TEST(ProbeVerdicts, AConfirmedVerdictKeepsItsGrade) {
  diagnosis::Verdict verdict = SlowNode(1.3, kCompute);
  TellProof(ProofOf(verdict, Judged("slow", 0.04), 7, WallNs(5)), verdict);
  EXPECT_EQ(verdict.grade, diagnosis::Grade::kEstablished);
  EXPECT_EQ(verdict.evidence.size(), 1u);
}

}  // namespace
}  // namespace fathom::collector
