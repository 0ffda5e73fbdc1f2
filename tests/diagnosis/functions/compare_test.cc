#include "diagnosis/functions/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "diagnosis/functions/compare_ranks.h"
#include "diagnosis/functions/name_function.h"
#include "tests/diagnosis/functions/made_captures.h"

namespace fathom::diagnosis {
namespace {

Stack Sleep(std::uint64_t samples) {
  return {{"write_metrics /job/train.py:85", "train /job/train.py:103", kMain}, samples};
}

TEST(CompareFunctions, NamesTheInnermostFunctionThatOnlyTheCulpritIsIn) {
  const Detail found =
      CompareFunctions(Captured(Rank(60, 110, {Sleep(220)}, {{"sleep", 55}, {"running", 45}})),
                       RankId(2), kPeers, 0.55);
  ASSERT_TRUE(found.known()) << found.missing;
  EXPECT_EQ(found.where.function, "write_metrics");
  EXPECT_EQ(found.where.file, "/job/train.py");
  EXPECT_EQ(found.where.line, 85u);
  EXPECT_NEAR(found.where.share, 0.55, 1e-9);
  EXPECT_EQ(found.where.peers_share, 0);
  EXPECT_EQ(found.doing, "sleep");
  EXPECT_EQ(found.peers, 3u);
}

// A generator that moves while it is read has lost its callers.
TEST(CompareFunctions, StacksThatEndTooSoonDoNotMakeTheCallerTheInnermost) {
  const std::string decode = "decode /job/data.py:12", act = "act /job/plant.py:71";
  const std::vector<Stack> more = {{{decode, act, kForward, kMain}, 190}, {{decode}, 30}};
  const Detail found = CompareFunctions(Captured(Rank(60, 110, more)), RankId(2), kPeers, 0.55);
  ASSERT_TRUE(found.known()) << found.missing;
  EXPECT_EQ(found.where.function, "decode");
  EXPECT_NEAR(found.where.share, 0.55, 1e-9);
}

TEST(CompareFunctions, NamesTheLineOfAFunctionThatAllAreIn) {
  const Detail found = CompareFunctions(
      Captured(Rank(60, 110, {{{"train /job/train.py:105", kMain}, 220}})), RankId(2), kPeers, 0.5);
  ASSERT_TRUE(found.known()) << found.missing;
  EXPECT_EQ(found.where.function, "train");
  EXPECT_EQ(found.where.line, 105u);
}

TEST(CompareFunctions, NamesAFunctionWhoseLinesShareTheTimeByTheLargest) {
  std::vector<Stack> lines;
  for (int i = 0; i < 5; ++i) {
    lines.push_back({{"shuffle /job/data.py:" + std::to_string(40 + i), kForward, kMain},
                     static_cast<std::uint64_t>(40 + 5 * i)});
  }
  const Detail found = CompareFunctions(Captured(Rank(60, 80, lines)), RankId(2), kPeers, 0.6);
  ASSERT_TRUE(found.known()) << found.missing;
  EXPECT_EQ(found.where.function, "shuffle");
  EXPECT_EQ(found.where.line, 44u);
}

TEST(CompareFunctions, NamesTheLineInWhichPyTorchIsCalledMore) {
  const Detail found = CompareFunctions(
      Captured(Rank(60, 110, {{{kModule, "forward /job/model.py:77", kForward, kMain}, 220}})),
      RankId(2), kPeers, 0.55);
  ASSERT_TRUE(found.known()) << found.missing;
  EXPECT_EQ(found.where.function, "forward");
  EXPECT_EQ(found.where.line, 77u);
}

TEST(CompareFunctions, AWaitInACollectiveIsNobodysFunction) {
  // The culprit waits: for one that nobody accuses.
  StackCapture capture = Captured(Rank(20, 20));
  const Detail found = CompareFunctions(capture, RankId(2), kPeers, 0.3);
  EXPECT_FALSE(found.known());
}

TEST(CompareFunctions, AHostThatIsSlowAtAllItDoesHasNoFunction) {
  // All lines take twice as long; forward alone would hold most of the loss.
  const std::vector<Stack> slow = {{{"step /job/train.py:110", kMain}, 40}};
  StackCapture capture;
  capture.accused = {RankId(2)};
  capture.ranks[RankId(2)] = Rank(240, 100, slow);
  for (const RankId peer : kPeers) {
    capture.ranks[peer] = Rank(120, 50, {{{"step /job/train.py:110", kMain}, 20}});
  }
  const Detail found = CompareFunctions(capture, RankId(2), kPeers, 0.45);
  EXPECT_FALSE(found.known());
  EXPECT_NE(found.missing.find("alike"), std::string::npos) << found.missing;
}

// All of what it does beyond its peers, and of what the job loses a part.
TEST(CompareFunctions, OneThatHoldsAllOfTheDifferenceIsNamedWithThePartOfTheLossThatItIs) {
  const Detail found =
      CompareFunctions(Captured(Rank(60, 110, {Sleep(80)})), RankId(2), kPeers, 0.55);
  ASSERT_TRUE(found.known()) << found.missing;
  EXPECT_EQ(found.where.function, "write_metrics");
  EXPECT_NEAR(found.of_loss, 0.2 / 0.55, 0.01);
}

// A larger batch: forward has grown, and backward too, which its waits for others hide.
TEST(CompareFunctions, OneThatHoldsAPartAndInWhichPeersAreAsWellIsNotNamed) {
  const Detail found = CompareFunctions(Captured(Rank(150, 120)), RankId(2), kPeers, 0.55);
  EXPECT_FALSE(found.known()) << FunctionInWords(found.where);
  EXPECT_EQ(found.missing,
            "a function that explains most of what is lost: train (train.py:99), where its peers "
            "spend time too (15 %, it 38 %), explains 40 % of it");
  const Detail most = CompareFunctions(Captured(Rank(240, 120)), RankId(2), kPeers, 0.55);
  ASSERT_TRUE(most.known()) << most.missing;
  EXPECT_EQ(most.where.line, 99u);
}

TEST(CompareFunctions, WhoHasMoreToComputeOfWhatAllDoHasNoFunction) {
  CompareLimits limits;
  limits.flop_times = 10;
  const StackCapture forward = Captured(Rank(240, 120));
  const Detail found = CompareFunctions(forward, RankId(2), kPeers, 0.55, limits);
  EXPECT_FALSE(found.known());
  EXPECT_EQ(found.missing,
            "a function of its own: it has 10.0 times the products of matrices (FLOP) of its peers "
            "to compute, in what they all do");
  // What it alone does is its own, whatever that computes.
  const StackCapture evaluates =
      Captured(Rank(60, 110, {{{kModule, "evaluate /job/train.py:33", kMain}, 220}}));
  EXPECT_EQ(CompareFunctions(evaluates, RankId(2), kPeers, 0.55, limits).where.function,
            "evaluate");
  limits.flop_times = 1.1;
  EXPECT_TRUE(CompareFunctions(forward, RankId(2), kPeers, 0.55, limits).known()) << "hardly more";
}

TEST(CompareFunctions, OneThatHoldsHardlyAnythingOfTheLossIsNotNamed) {
  const Detail found =
      CompareFunctions(Captured(Rank(60, 110, {Sleep(40)})), RankId(2), kPeers, 0.55);
  EXPECT_FALSE(found.known());
  EXPECT_EQ(found.missing,
            "most of what is lost: the capture shows 18 % of it as more than its peers spend");
  EXPECT_EQ(found.functions.front().function, "write_metrics");
}

TEST(CompareFunctions, WhatSeveralFunctionsShareIsTold) {
  const Stack other = {{"read_rows /job/data.py:12", "train /job/train.py:95", kMain}, 70};
  const Stack third = {{"seal /job/io.py:7", "train /job/train.py:96", kMain}, 70};
  const Detail found =
      CompareFunctions(Captured(Rank(60, 110, {Sleep(70), other, third})), RankId(2), kPeers, 0.55);
  EXPECT_FALSE(found.known()) << FunctionInWords(found.where);
  EXPECT_EQ(found.missing,
            "one function that holds most of it: it is spread over several, of which read_rows "
            "(data.py:12) holds most, 33 %");
}

TEST(CompareFunctions, OfRanksThatAreAlikeTheMostIsTold) {
  const Detail found = CompareFunctions(Captured(Rank(61, 120, {Sleep(4)})), RankId(2), kPeers, 0);
  EXPECT_EQ(found.missing,
            "one function that holds 2 % of its time beyond its peers: the most is 1.0 %, in "
            "write_metrics (train.py:85)");
}

TEST(CompareFunctions, OneStallOfACaptureIsChance) {
  StackCapture capture = Captured(Rank(60, 110));
  RankStacks& mine = capture.ranks[RankId(2)];
  mine.stacks[1].samples += 120;  // it stood still there once, while the others waited
  mine.stacks[2].samples -= 120;
  mine.order.insert(mine.order.begin() + 30, {1, 120});
  for (auto& run : mine.order) {
    if (run.stack == 2) run.samples -= std::min(run.samples, 3u);
  }
  const Detail found = CompareFunctions(capture, RankId(2), kPeers, 0);
  EXPECT_FALSE(found.known()) << FunctionInWords(found.where);
  EXPECT_NE(found.missing.find("may be chance in so few"), std::string::npos) << found.missing;
}

TEST(CompareFunctions, WithoutTheOrderFewSamplesTellLess) {
  StackCapture capture = Captured(Rank(60, 110, {Sleep(60)}));
  EXPECT_TRUE(CompareFunctions(capture, RankId(2), kPeers, 0).known());
  for (auto& [rank, stacks] : capture.ranks) stacks.order.clear();
  EXPECT_NE(CompareFunctions(capture, RankId(2), kPeers, 0).missing.find("may be chance"),
            std::string::npos);
  capture = Captured(Rank(60, 110, {Sleep(220)}));
  for (auto& [rank, stacks] : capture.ranks) stacks.order.clear();
  EXPECT_TRUE(CompareFunctions(capture, RankId(2), kPeers, 0).known());
}

TEST(CompareFunctions, WhatItWaitedForACoreIsNoFunctionsTime) {
  StackCapture capture = Captured(Rank(60, 260));
  EXPECT_TRUE(CompareFunctions(capture, RankId(2), kPeers, 0).known());
  capture.ranks[RankId(2)].core_wait = 0.6;
  const Detail found = CompareFunctions(capture, RankId(2), kPeers, 0);
  EXPECT_FALSE(found.known());
  EXPECT_NE(found.missing.find("waited for a core 60 %"), std::string::npos) << found.missing;
  for (auto& [rank, stacks] : capture.ranks) stacks.core_wait = 0.6;  // as all do
  EXPECT_TRUE(CompareFunctions(capture, RankId(2), kPeers, 0).known());
}

TEST(CompareFunctions, ChanceIsNotNamed) {
  const Detail found =
      CompareFunctions(Captured(Rank(63, 120, {Sleep(2)})), RankId(2), kPeers, 0.01);
  EXPECT_FALSE(found.known());
}

TEST(CompareFunctions, AFaultInEveryFifthIterationIsNamedByItsShare) {
  const Detail found = CompareFunctions(
      Captured(Rank(60, 120, {Sleep(48)}, {{"sleep", 12}, {"lock", 48}, {"running", 40}})),
      RankId(2), kPeers, 0.5 / 5);
  ASSERT_TRUE(found.known()) << found.missing;
  EXPECT_EQ(found.where.function, "write_metrics");
}

TEST(CompareFunctions, SaysWhatIsMissing) {
  StackCapture capture = Captured(Rank(60, 110, {Sleep(220)}), 0);
  EXPECT_EQ(CompareFunctions(capture, RankId(2), kPeers, 0.5).missing,
            "stacks of a rank that does the same work");
  capture.ranks[RankId(2)] = {};
  capture.ranks[RankId(2)].refused = "another tool watches this process: gdb (pid 9)";
  EXPECT_EQ(CompareFunctions(capture, RankId(2), kPeers, 0.5).missing,
            "its stacks: another tool watches this process: gdb (pid 9)");
  EXPECT_EQ(CompareFunctions(capture, RankId(9), kPeers, 0.5).missing, "its stacks");
}

Verdict HostSlow() {
  Verdict verdict;
  verdict.grade = Grade::kEstablished;
  verdict.cause = Cause::kHostSlow;
  verdict.problem = ProblemClass::kNonCommunicationSlow;
  verdict.entity.ranks = {RankId(2)};
  verdict.cost.slowdown = 2.2;
  verdict.sentence =
      "Rank 2 has held the job back since iteration 100: 97 ms more host time (not computing, not "
      "waiting for others) in each slow iteration; an iteration takes 151 ms.";
  return verdict;
}

TEST(TellFunction, PutsItIntoTheFirstSentenceAndTheEvidence) {
  Verdict verdict = HostSlow();
  Detail detail =
      CompareFunctions(Captured(Rank(60, 110, {Sleep(220)}, {{"sleep", 55}, {"running", 45}})),
                       RankId(2), kPeers, 0.55);
  TellFunction(detail, verdict);
  EXPECT_EQ(verdict.sentence,
            "Rank 2 has held the job back since iteration 100: 97 ms more in write_metrics "
            "(train.py:85), asleep, in each slow iteration; an iteration takes 151 ms.");
  ASSERT_EQ(verdict.evidence.size(), 2u);
  EXPECT_NEAR(verdict.evidence[0].value, 55, 1e-9);
  EXPECT_EQ(verdict.evidence[0].unit, "%");
}

TEST(TellFunction, SaysOfOneThatHoldsAPartHowMuchThatIs) {
  Verdict verdict = HostSlow();
  verdict.cost.seconds_per_iteration = 0.097;
  TellFunction(CompareFunctions(Captured(Rank(60, 110, {Sleep(80)})), RankId(2), kPeers, 0.55),
               verdict);
  EXPECT_NE(verdict.sentence.find("97 ms more host time"), std::string::npos) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("Of the 97 ms lost an iteration 35 ms lie in write_metrics "
                                  "(train.py:85), which holds most of what the rank does beyond "
                                  "its peers; the rest shows in no function."),
            std::string::npos)
      << verdict.sentence;
}

TEST(TellFunction, KeepsTheCauseOfADataLoader) {
  Verdict verdict = HostSlow();
  verdict.cause = Cause::kDataLoader;
  verdict.sentence = "Rank 2 holds the job back: 97 ms more waiting for its data loader in each.";
  Detail detail;
  detail.where = {"__iter__", "/job/train.py", 60, 0.5, 0};
  TellFunction(detail, verdict);
  EXPECT_EQ(verdict.sentence,
            "Rank 2 holds the job back: 97 ms more waiting for its data loader in __iter__ "
            "(train.py:60) in each.");
}

TEST(TellFunction, SaysNothingWhereNothingIsKnown) {
  Verdict verdict = HostSlow();
  TellFunction({}, verdict);
  EXPECT_EQ(verdict.sentence, HostSlow().sentence);
  EXPECT_TRUE(verdict.evidence.empty());
}

TEST(WantsFunction, OfConvictedRanksWithTimeOfTheirOwn) {
  EXPECT_TRUE(WantsFunction(HostSlow()));
  Verdict lead = HostSlow();
  lead.grade = Grade::kHypothesis;
  EXPECT_FALSE(WantsFunction(lead));
  Verdict link = HostSlow();
  link.cause = Cause::kLinkSlow;
  EXPECT_FALSE(WantsFunction(link));
  Verdict device = HostSlow();
  device.cause = Cause::kComputeSlow;
  EXPECT_TRUE(WantsFunction(device));
  device.entity.gpu = "0000:1B:00.0";
  EXPECT_FALSE(WantsFunction(device));
  Verdict hang = HostSlow();
  hang.problem = ProblemClass::kNonCommunicationHang;
  EXPECT_FALSE(WantsFunction(hang));
}

// Its loader's workers, of which so many samples read, the others idle.
void AddWorkers(RankStacks& rank, std::uint64_t reading, std::uint64_t all = 800) {
  const auto add = [&](const std::vector<std::string>& frames, std::uint64_t samples) {
    CapturedStack told;
    told.samples = samples;
    rank.worker_samples += samples;
    for (const std::string& frame : frames) {
      told.frames.push_back(static_cast<std::uint32_t>(rank.frames.size()));
      rank.frames.push_back(FrameOf(frame));
    }
    rank.worker_stacks.push_back(std::move(told));
  };
  const std::string loop = "_worker_loop /v/torch/utils/data/_utils/worker.py:3";
  add({"decode /job/data.py:12", "read /job/data.py:20", loop}, reading);
  add({loop}, all - reading);
}

const Stack kWaitsForLoader = {
    {"_try_get_data /v/torch/utils/data/dataloader.py:9", "train /job/train.py:95", kMain}, 220};

StackCapture WithWorkers(std::uint64_t culprits) {
  StackCapture capture = Captured(Rank(60, 110, {kWaitsForLoader}));
  for (auto& [rank, stacks] : capture.ranks) {
    AddWorkers(stacks, rank == RankId(2) ? culprits : 80);
  }
  return capture;
}

TEST(CompareFunctions, LooksIntoTheWorkersOfALoaderThatIsWaitedFor) {
  Verdict verdict;
  verdict.grade = Grade::kEstablished;
  verdict.cause = Cause::kDataLoader;
  verdict.entity.ranks = {RankId(2)};
  verdict.cost.slowdown = 2;
  verdict.sentence = "Rank 2 holds the job back: 97 ms more waiting for its data loader in each.";
  const Detail found = FindFunction(JobView(), WithWorkers(780), verdict);
  EXPECT_TRUE(found.in_workers);
  EXPECT_EQ(FunctionInWords(found.where), "decode (data.py:12)");
  EXPECT_GT(found.where.share, 0.9);
  TellFunction(found, verdict);
  EXPECT_NE(verdict.sentence.find("waiting for its data loader, whose workers are in decode "
                                  "(data.py:12), in each."),
            std::string::npos)
      << verdict.sentence;
  EXPECT_NE(verdict.evidence.front().statement.find("The workers of its data loader are in decode"),
            std::string::npos);
}

TEST(CompareFunctions, ARankThatDidNotAnswerHasNeitherStacksNorWorkers) {
  StackCapture capture = WithWorkers(780);
  capture.ranks.erase(RankId(2));
  Verdict verdict;
  verdict.cause = Cause::kDataLoader;
  verdict.entity.ranks = {RankId(2)};
  const Detail found = FindFunction(JobView(), capture, verdict);
  EXPECT_FALSE(found.known());
  EXPECT_EQ(found.missing, "its stacks");
}

TEST(CompareFunctions, OfWorkersThatDoAsTheirPeersTheWaitingLineStays) {
  Verdict verdict;
  verdict.entity.ranks = {RankId(2)};
  verdict.cost.slowdown = 2;
  const Detail found = FindFunction(JobView(), WithWorkers(85), verdict);
  EXPECT_FALSE(found.in_workers);
  EXPECT_EQ(FunctionInWords(found.where), "train (train.py:95)");
}

TEST(CompareFunctions, WorkersOfWhomNobodyWaitsForAreNotLookedInto) {
  StackCapture capture = Captured(Rank(60, 110, {Sleep(220)}));
  for (auto& [rank, stacks] : capture.ranks) AddWorkers(stacks, rank == RankId(2) ? 780 : 80);
  Verdict verdict;
  verdict.entity.ranks = {RankId(2)};
  verdict.cost.slowdown = 2;
  EXPECT_EQ(FindFunction(JobView(), capture, verdict).where.function, "write_metrics");
}

// Ops of a trace and native frames have no line.
TEST(CompareFunctions, WhatHasNoLineIsComparedLikewise) {
  const auto ops = [](std::uint64_t mm, std::uint64_t gelu) {
    RankStacks rank;
    rank.source = "trace of ops";
    rank.samples = 1000;
    rank.frames = {{"aten::mm", "", 0, false}, {"aten::gelu", "", 0, false}};
    rank.stacks = {{{0}, mm}, {{1}, gelu}};
    return rank;
  };
  StackCapture capture;
  for (const RankId peer : kPeers) capture.ranks[peer] = ops(100, 20);
  capture.ranks[RankId(2)] = ops(340, 220);  // both took more: neither holds most of it
  const Detail both = CompareFunctions(capture, RankId(2), kPeers, 0);
  EXPECT_FALSE(both.known()) << both.where.function;
  EXPECT_EQ(both.functions.size(), 2u);
  capture.ranks[RankId(2)] = ops(110, 520);
  const Detail one = CompareFunctions(capture, RankId(2), kPeers, 0);
  EXPECT_EQ(one.where.function, "aten::gelu");
  EXPECT_TRUE(one.traced);
}

TEST(CompareRanks, PutsTheRankThatStandsOutFirstAndNamesNobodyElse) {
  const auto all = CompareRanks(JobView(), Captured(Rank(60, 110, {Sleep(220)})));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].rank, RankId(2));
  EXPECT_EQ(all[0].detail.where.function, "write_metrics");
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_FALSE(all[i].detail.known()) << FunctionInWords(all[i].detail.where);
  }
}

TEST(CompareRanks, NamesNobodyWhereAllAreAlikeOrOneDiffersByLittle) {
  for (const std::uint64_t asleep : {std::uint64_t{1}, std::uint64_t{14}}) {
    for (const auto& each : CompareRanks(JobView(), Captured(Rank(60, 115, {Sleep(asleep)})))) {
      EXPECT_FALSE(each.detail.known()) << FunctionInWords(each.detail.where);
      EXPECT_FALSE(each.detail.missing.empty());
    }
  }
}

TEST(CompareRanks, OfARankWithoutStacksSaysWhy) {
  StackCapture capture = Captured(Rank(60, 110));
  capture.ranks[RankId(9)].refused = "another tool watches this process: gdb (pid 7)";
  for (const auto& each : CompareRanks(JobView(), capture)) {
    if (each.rank != RankId(9)) continue;
    EXPECT_EQ(each.detail.missing, "its stacks: another tool watches this process: gdb (pid 7)");
  }
}

}  // namespace
}  // namespace fathom::diagnosis
