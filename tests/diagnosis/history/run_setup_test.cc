// What is told of the difference between two runs, and what makes them comparable.
#include "diagnosis/history/run_setup.h"

#include <gtest/gtest.h>

#include "diagnosis/history/history_verdict.h"
#include "diagnosis/history/job_profile.h"

namespace fathom::diagnosis {
namespace {

RunSetup SetupOf(const RunFacts& facts, std::vector<std::string> nodes = {"a", "b"}) {
  return {{{facts, std::move(nodes)}}};
}

JobProfile Ddp() {
  JobProfile profile;
  profile.program = "train.py";
  profile.device = "cpu";
  profile.framework = "torch";
  profile.world_size = 4;
  profile.work = {{4, CollectiveKind::kAllReduce, 5, 1.2e6}};
  return profile;
}

TEST(SetupChanges, NoneBetweenEqualRuns) {
  const RunSetup setup = SetupOf({{"torch", "2.4"}, {"argument --lr", "0.1"}});
  EXPECT_TRUE(ChangesBetween(setup, setup).empty());
}

TEST(SetupChanges, ADriverOnSomeNodesIsToldWithHowMany) {
  RunSetup after = SetupOf({{"driver", "570"}}, {"a"});
  after.variants.push_back({{{"driver", "580"}}, {"b"}});
  const auto changes = ChangesBetween(SetupOf({{"driver", "570"}}), after);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(InWords(changes[0]), "driver 570 -> 580 on 1 of 2 nodes");
  EXPECT_EQ(OwnerOf(changes[0]), Owner::kOperations);
}

TEST(SetupChanges, WhatComesAndGoesIsNone) {
  const auto changes = ChangesBetween(
      SetupOf({}), SetupOf({{"environment NCCL_ALGO", "Tree"}, {"argument --sync", ""}}));
  EXPECT_EQ(InWords(changes), "argument --sync none -> set; environment NCCL_ALGO none -> Tree");
}

TEST(SetupChanges, WhatDiffersFromRunToRunAnywayIsLast) {
  const RunSetup first = SetupOf({{"revision", "1"}, {"torch", "2.4"}});
  const RunSetup second = SetupOf({{"revision", "2"}, {"torch", "2.4"}});
  const RunSetup third = SetupOf({{"revision", "3"}, {"torch", "2.5"}});
  const auto changes = ChangesBetween(second, third, {first});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].what, "torch");
  EXPECT_TRUE(changes[1].usual);
  EXPECT_EQ(InWords(changes), "torch 2.4 -> 2.5");
}

TEST(SetupChanges, OtherNodesAreToldByName) {
  const auto changes = ChangesBetween(SetupOf({}, {"a", "b"}), SetupOf({}, {"a", "c"}));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(InWords(changes[0]), "nodes b -> c");
}

TEST(SetupChanges, OfAnUnknownSetupNothingIsTold) {
  EXPECT_TRUE(ChangesBetween(RunSetup{}, SetupOf({{"torch", "2"}})).empty());
}

TEST(JobProfiles, OtherRanksWorkOrNameAreOtherProfiles) {
  JobProfile other = Ddp();
  EXPECT_EQ(WhyOther(other, Ddp()), "");
  other.work[0].bytes *= 1.05;
  EXPECT_EQ(WhyOther(other, Ddp()), "");
  other.work[0].bytes *= 2;
  EXPECT_EQ(WhyOther(other, Ddp()), "2.52 MB an iteration in all_reduce among 4 instead of 1.2 MB");
  EXPECT_EQ(ProfileId(other), ProfileId(Ddp()));
  other = Ddp();
  other.world_size = 8;
  EXPECT_EQ(WhyOther(other, Ddp()), "8 ranks instead of 4");
  EXPECT_NE(ProfileId(other), ProfileId(Ddp()));
  other = Ddp();
  other.name = "pretraining";
  EXPECT_EQ(WhyOther(other, Ddp()), "profile pretraining instead of none");
}

TEST(JobProfiles, WithoutWorkItIsLikeNone) {
  JobProfile empty = Ddp();
  empty.work.clear();
  EXPECT_FALSE(empty.known());
  EXPECT_NE(WhyOther(empty, empty), "");
}

HistoryCase Slower() {
  HistoryCase c;
  c.judgement.outcome = RunOutcome::kSlower;
  c.judgement.runs = 5;
  c.judgement.iterations = 45;
  c.judgement.before_s = 0.0691;
  c.judgement.after_s = 0.101;
  c.judgement.chance = 1e-7;
  c.judgement.before = {0.0691, 0.06, 0, 0, 0, 0};
  c.judgement.after = {0.101, 0.06, 0, 0, 0, 0};
  c.profile = Ddp();
  c.run = "r2";
  c.last_run = "r1";
  c.setup_known = true;
  c.span_s = 86'400;
  c.ranks = 4;
  return c;
}

TEST(HistoryVerdict, SaysWhatWasChangedAndWhoseItIs) {
  HistoryCase c = Slower();
  c.changes = {{"environment NCCL_ALGO", "Ring", "Tree", 2, 2, false}};
  const Verdict verdict = SlowerThanHistory(c);
  EXPECT_EQ(verdict.sentence,
            "The job is slower than its last 5 healthy runs, from the start: an iteration takes "
            "101 ms instead of 69 ms (1.46x), most of it host time (neither computing nor "
            "communicating); what was changed since: environment NCCL_ALGO Ring -> Tree.");
  EXPECT_EQ(verdict.grade, Grade::kEstablished);
  EXPECT_EQ(verdict.owner, Owner::kInfrastructure);
  EXPECT_EQ(verdict.entity.type, EntityType::kJob);
  EXPECT_TRUE(verdict.entity.ranks.empty());
  EXPECT_EQ(verdict.action_command, "fathom compare r1 r2");
}

TEST(HistoryVerdict, AnotherBatchIsALeadOnly) {
  HistoryCase c = Slower();
  c.changes = {{"argument --batch-size", "4", "8", 2, 2, false}};
  const Verdict verdict = SlowerThanHistory(c);
  EXPECT_EQ(verdict.grade, Grade::kHypothesis);
  EXPECT_EQ(verdict.owner, Owner::kAlgorithm);
  ASSERT_EQ(verdict.counter_evidence.size(), 1u);
}

// Runs of a quarter of an hour do not tell how the machine changes over hours.
TEST(HistoryVerdict, WithinOneSittingTheDurationAloneIsALeadOnly) {
  HistoryCase c = Slower();
  c.span_s = 900;
  const Verdict lead = SlowerThanHistory(c);
  EXPECT_EQ(lead.grade, Grade::kHypothesis);
  ASSERT_EQ(lead.counter_evidence.size(), 1u);
  EXPECT_NE(lead.counter_evidence[0].statement.find("machine may have become slower"),
            std::string::npos);
  EXPECT_NE(lead.would_change[0].find("other hours"), std::string::npos);

  HistoryCase witnessed = c;
  witnessed.judgement.issue.fallen = true;
  EXPECT_EQ(SlowerThanHistory(witnessed).grade, Grade::kEstablished);
  c.changes = {{"environment NCCL_ALGO", "Ring", "Tree", 2, 2, false}};
  EXPECT_EQ(SlowerThanHistory(c).grade, Grade::kEstablished);
  c.changes[0].usual = true;
  EXPECT_EQ(SlowerThanHistory(c).grade, Grade::kHypothesis);
}

TEST(HistoryVerdict, FewRunsEstablishNothing) {
  HistoryCase c = Slower();
  c.judgement.runs = 3;
  EXPECT_EQ(SlowerThanHistory(c).grade, Grade::kSupported);
  EXPECT_NE(SlowerThanHistory(c).sentence.find("nothing was changed since"), std::string::npos);
  c.setup_known = false;
  EXPECT_NE(SlowerThanHistory(c).sentence.find("is not known"), std::string::npos);
}

}  // namespace
}  // namespace fathom::diagnosis
