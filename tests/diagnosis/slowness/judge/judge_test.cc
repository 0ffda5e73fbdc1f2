#include "diagnosis/slowness/judge/judge.h"

#include "diagnosis/evidence/cost.h"
#include "diagnosis/evidence/parts.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/phrase.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/job_builder.h"
#include "tests/diagnosis/live_session.h"

namespace fathom::diagnosis {
namespace {

Excess Of(double compute, double gc, double dataloader, double runqueue, double host) {
  return {compute + gc + dataloader + runqueue + host, compute, gc, dataloader, runqueue, host, 0};
}

TEST(CauseTest, IsWhatMostOfTheExcessWentInto) {
  EXPECT_EQ(CauseOf(Of(0.10, 0, 0, 0, 0.01), {}), Cause::kComputeSlow);
  EXPECT_EQ(CauseOf(Of(0.02, 0.10, 0, 0, 0), {}), Cause::kGc);
  EXPECT_EQ(CauseOf(Of(0, 0, 0.10, 0.02, 0), {}), Cause::kDataLoader);
  EXPECT_EQ(CauseOf(Of(0.01, 0, 0, 0.02, 0.10), {}), Cause::kHostSlow);
  EXPECT_EQ(CauseOf(Excess{}, {}), Cause::kUnknown);
}

TEST(CauseTest, MoreWorkOnAFullMachineIsMoreWork) {
  const Excess full = Of(0.14, 0, 0, 0.20, 0.01);
  EXPECT_FALSE(WaitsForCores(full, {}));
  EXPECT_EQ(CauseOf(full, {}), Cause::kComputeSlow);
}

TEST(CauseTest, TheSameWorkThatWaitsForCoresIsSomebodyElse) {
  EXPECT_TRUE(WaitsForCores(Of(0.01, 0, 0, 0.20, 0.02), {}));
}

TEST(PartsTest, SummariesSplitWhatRowsCannot) {
  Excess typical;
  typical.total = typical.unsplit = 0.1;
  const Excess busy = PartsOf(typical, SummaryShares{0.9, 0.05});
  EXPECT_NEAR(busy.compute, 0.09, 1e-9);
  EXPECT_NEAR(busy.runqueue, 0.005, 1e-9);
  EXPECT_NEAR(busy.host, 0.005, 1e-9);
  EXPECT_EQ(CauseOf(PartsOf(typical, SummaryShares{-0.1, 0.02}), {}), Cause::kHostSlow);
  EXPECT_EQ(CauseOf(PartsOf(typical, std::nullopt), {}), Cause::kUnknown);
}

TEST(PartsTest, MoreComputingOnACrowdedNodeBringsItsWaitsAlong) {
  Excess typical;
  typical.total = typical.unsplit = 1.0;
  const Excess crowded = PartsOf(typical, SummaryShares{0.1, 0.9, 12});
  EXPECT_NEAR(crowded.crowding, 0.9, 1e-9) << "no more than it waits";
  EXPECT_FALSE(WaitsForCores(crowded, {}));
  EXPECT_EQ(CauseOf(crowded, {}), Cause::kComputeSlow);
  const Excess starved = PartsOf(typical, SummaryShares{0.02, 0.98, 12});
  EXPECT_NEAR(starved.crowding, 0.24, 1e-9);
  EXPECT_TRUE(WaitsForCores(starved, {})) << "far more than its little computing explains";
  EXPECT_TRUE(WaitsForCores(PartsOf(typical, SummaryShares{-0.1, 0.9, 12}), {}));
}

TEST(PartsTest, WhatTheMakersOfBatchesWaitForCoresIsNoLoader) {
  Excess typical = Of(0.010, 0, 0.040, 0.020, 0.030);
  SummaryShares shares;
  shares.starved = 0.3;
  const Excess parts = PartsOf(typical, shares);
  EXPECT_NEAR(parts.dataloader, 0.010, 1e-9);
  EXPECT_NEAR(parts.runqueue, 0.050, 1e-9);
  EXPECT_NEAR(parts.total, typical.total, 1e-9);
  shares.starved = 2;
  EXPECT_NEAR(PartsOf(typical, shares).dataloader, 0, 1e-9) << "no more than it waited for batches";
  shares.starved = -1;
  EXPECT_NEAR(PartsOf(typical, shares).dataloader, 0.040, 1e-9);
}

TEST(AnswerableTest, IsAllButTheWaitsForCoresThatOthersMake) {
  EXPECT_NEAR(AnswerableFor(Of(0.01, 0, 0.01, 0.07, 0.01), {}), 0.03, 1e-9);
  Excess crowded = Of(0.01, 0, 0.01, 0.07, 0.01);
  crowded.crowding = 0.04;
  EXPECT_NEAR(AnswerableFor(crowded, {}), 0.07, 1e-9) << "its computing brings waits along";
  EXPECT_NEAR(AnswerableFor(Of(0.05, 0, 0, 0.05, 0), {}), 0.10, 1e-9) << "it computes much more";
}

// Rank 2 waits for a core in every second slow iteration, and in the others all transfers take
// long, as where the threads that carry them out are without one.
testing::JobSpec StarvedByTurns() {
  testing::JobSpec spec;
  spec.ranks_per_node = 1;
  spec.iterations = 50;
  spec.jitter = 0.02;
  spec.preempt_rate = 0;
  spec.faults = {{testing::FaultKind::kContention, 2, 30, 2, 1 << 30, 100},
                 {testing::FaultKind::kLink, 2, 31, 2, 1 << 30, 100}};
  return spec;
}

TEST(HeldBackTest, WhoseOwnWaitsShowInHalfOfTheSlowIterationsIsALead) {
  const Diagnosis told = testing::RunLive(testing::PlayJob(StarvedByTurns()), {}).diagnosis;
  EXPECT_TRUE(told.verdicts.empty());
  ASSERT_EQ(told.held_back.size(), 1u);
  EXPECT_EQ(told.held_back[0].entity.ranks, std::vector<RankId>{RankId(2)});
  EXPECT_EQ(told.held_back[0].grade, Grade::kHypothesis);
}

TEST(HeldBackTest, InAQuarterOfThemItIsNone) {
  testing::JobSpec spec = StarvedByTurns();
  spec.faults[0].every = 4;
  spec.faults[1].every = 1;
  const Diagnosis told = testing::RunLive(testing::PlayJob(spec), {}).diagnosis;
  EXPECT_TRUE(told.held_back.empty());
}

TEST(OddsTest, GrowWithEveryShowAndFallWithEveryMiss) {
  EXPECT_NEAR(PosteriorOdds(0.01, 0, 0, 0.2, 0.9), 0.01, 1e-12);
  EXPECT_NEAR(PosteriorOdds(0.01, 1, 1, 0.2, 0.9), 0.01 * 4.5, 1e-12);
  EXPECT_NEAR(PosteriorOdds(0.01, 0, 1, 0.2, 0.9), 0.01 * 0.125, 1e-12);
  EXPECT_GT(PosteriorOdds(0.01, 12, 12, 0.2, 0.9), 1e5);
  EXPECT_LT(PosteriorOdds(0.01, 6, 12, 0.2, 0.9), 1);
}

JobView Window(std::int64_t first, std::int64_t last) {
  JobView view;
  view.world_size = 8;
  for (std::int64_t i = first; i <= last; ++i) {
    view.window.push_back({Iteration(i), WallNs(), {}, {}});
  }
  return view;
}

TEST(CostTest, SumsWhatIsInTheWindowAndEstimatesTheRest) {
  Suspicion s;
  s.onset = Iteration(10);
  s.expected = Nanos::FromSeconds(0.1);
  s.measured = Nanos::FromSeconds(0.3);
  for (std::int64_t i = 90; i < 100; ++i) {
    s.irregular.push_back({Iteration(i), Nanos::FromSeconds(0.3), "degradation"});
  }
  s.seen_since_onset = 10;
  const Cost cost = CostOfSlowness(Window(90, 99), s, 1);
  EXPECT_NEAR(cost.slowdown, 3, 1e-9);
  EXPECT_NEAR(cost.seconds_per_iteration, 0.2, 1e-9);
  EXPECT_NEAR(cost.gpu_hours, 90 * 0.2 * 8 / 3600, 1e-9);
  EXPECT_NEAR(CostOfSlowness(Window(90, 99), s, 0.5).slowdown, 2, 1e-9);
}

TEST(PhraseTest, DurationsAndRanks) {
  EXPECT_EQ(Duration(0.104), "104 ms");
  EXPECT_EQ(Duration(0.0032), "3.2 ms");
  EXPECT_EQ(Duration(2.5), "2.5 s");
  EXPECT_EQ(Duration(125), "125 s");
  EXPECT_EQ(RankList({RankId(1)}), "1");
  EXPECT_EQ(RankList({RankId(0), RankId(1), RankId(3)}), "0, 1 and 3");
  std::vector<RankId> many;
  for (std::uint32_t r = 0; r < 64; ++r) many.push_back(RankId(r));
  EXPECT_EQ(RankList(many), "0, 1, 2, 3, 4, 5, 6, 7 and 56 others");
}

TEST(PhraseTest, UserCodeIsNeverACaseForTheNode) {
  JobView view;
  RankFacts facts;
  facts.rank = RankId(2);
  facts.node = "a";
  facts.pid = 77;
  view.ranks = {facts};
  for (Cause cause : {Cause::kHostSlow, Cause::kGc, Cause::kDataLoader}) {
    Verdict verdict;
    verdict.cause = cause;
    AdviseOnRank(view, RankId(2), verdict);
    EXPECT_EQ(verdict.action_command, "py-spy dump --pid 77");
    EXPECT_EQ(verdict.action_text.find("cordon"), std::string::npos);
    EXPECT_NE(verdict.action_text.find("node a"), std::string::npos);
  }
}

TEST(PhraseTest, TheGpuOfARankIsNamedWhereItIsKnown) {
  JobView view;
  RankFacts facts;
  facts.rank = RankId(2);
  facts.node = "a";
  const auto said = [&](std::optional<Gpu> gpu) {
    facts.gpu = std::move(gpu);
    view.ranks = {facts};
    Verdict verdict;
    verdict.cause = Cause::kComputeSlow;
    AdviseOnRank(view, RankId(2), verdict);
    return std::pair(RankAndGpuName(view, RankId(2)), verdict.action_command);
  };
  const std::string either =
      "nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE || turbostat --num_iterations 3";
  EXPECT_EQ(said(std::nullopt), std::pair(std::string("Rank 2 on node a"), either));
  EXPECT_EQ(said(Gpu{3, "0000:1B:00.0", ""}),
            std::pair(std::string("Rank 2 on node a (GPU 0000:1B:00.0)"),
                      std::string("nvidia-smi -q -i 0000:1B:00.0 -d "
                                  "CLOCK,PERFORMANCE,TEMPERATURE")));
  EXPECT_EQ(said(Gpu{3, "", ""}), std::pair(std::string("Rank 2 on node a (GPU 3)"), either))
      << "nvidia-smi may count otherwise";
  EXPECT_EQ(said(Gpu{3, "$(id)", ""}).second, either);
  EXPECT_EQ(GpuOf(view, RankId(9)), "") << "nobody";
}

TEST(CommandTest, HoldsPlainNamesOnly) {
  EXPECT_EQ(CommandWith("ping -c 3 ", "gpu-07.rack_2"), "ping -c 3 gpu-07.rack_2");
  EXPECT_EQ(CommandWith("fathom get ranks --job ", "train", " -o wide"),
            "fathom get ranks --job train -o wide");
  for (const char* name : {"", "-f", "a b", "a;b", "$(id)", "`id`", "a|b", "a\nb", "../a", "'a'"}) {
    EXPECT_EQ(CommandWith("ping ", name), "") << name;
  }
}

TEST(CommandTest, NamesNoProcessThatIsNotKnown) {
  RankFacts facts;
  EXPECT_EQ(CommandOnProcess("py-spy dump --pid PID; kill -KILL PID", &facts), "");
  EXPECT_EQ(CommandOnProcess("py-spy dump --pid PID", nullptr), "");
  EXPECT_EQ(CommandOnProcess("dmesg --ctime | tail -50", nullptr), "dmesg --ctime | tail -50");
  facts.pid = 77;
  EXPECT_EQ(CommandOnProcess("py-spy dump --pid PID; kill -KILL PID", &facts),
            "py-spy dump --pid 77; kill -KILL 77");
}

TEST(CommandTest, AsksNoCollectorAboutARecording) {
  JobView view;
  view.name = "train";
  EXPECT_EQ(RanksCommand(view), "");
  view.iterations_seen = 9;
  EXPECT_EQ(RanksCommand(view), "fathom get ranks --job train -o wide");
}

}  // namespace
}  // namespace fathom::diagnosis
