// When a recovery pays, which spare and which checkpoint are taken, and what is never advised.
#include "collector/recovery/recovery_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/recovery/recovery_facts.h"
#include "collector/recovery/recovery_json.h"

namespace fathom::collector {
namespace {

using cli::Json;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::int64_t kNow = 1'790'000'000'000'000'000;
constexpr std::int64_t kMinute = 60'000'000'000;

struct RecoveryPlanTest : testing::Test {
  RecoveryPlanTest() {
    job.name = "train";
    job.processes = 64;
    job.iteration_s = 1.5;
    job.usual_s = 1;
    job.iteration = 9999;
    job.slowdown = 1.5;
    job.verdict = "v1";
    job.grade = "established";
    job.cause = "compute_slow";
    job.node = "n1";
    job.hardware = "8 x H100";
    nodes = {{.name = "n1", .connected = true, .ranks = 8, .suspect = true},
             {.name = "n2", .connected = true, .ranks = 8},
             {.name = "free", .connected = true, .probe = "clean", .hardware = "8 x H100"}};
    checkpoints = {{"ckpt/step-200", 200, kNow - 30 * kMinute, ""},
                   {"ckpt/step-100", 100, kNow - 90 * kMinute, ""}};
    wish = {.left_hours = 10, .restart_s = 180, .restart_assumed = false, .now_ns = kNow};
  }
  RecoveryPlan Plan() const { return PlanRecovery(job, nodes, checkpoints, wish); }

  SickJob job;
  std::vector<SpareNode> nodes;
  std::vector<Checkpoint> checkpoints;
  RecoveryWish wish;
};

TEST_F(RecoveryPlanTest, ActsWhereTheRestartIsCheaper) {
  const RecoveryPlan plan = Plan();
  EXPECT_EQ(plan.advice, "act") << plan.why;
  EXPECT_EQ(plan.isolate, "n1");
  EXPECT_EQ(plan.spare, "free");
  EXPECT_EQ(plan.checkpoint->step, 200);
  EXPECT_NEAR(plan.lost_work_s, 1200, 1e-6);  // 30 minutes at 1.5 times the time
  EXPECT_NEAR(plan.restart_gpu_hours, 64 * 1380 / 3600.0, 1e-9);
  EXPECT_NEAR(plan.carry_on_gpu_hours, 64 * 0.5 * 10, 1e-9);
  EXPECT_NEAR(plan.pays_from_hours, 1.2 * (1380 / 3600.0) / 0.5, 1e-9);
  EXPECT_THAT(plan.steps, Contains(HasSubstr("ckpt/step-200")));
}

TEST_F(RecoveryPlanTest, DoesNotWhereActingCostsMore) {
  wish.left_hours = 0.5;
  const RecoveryPlan plan = Plan();
  EXPECT_EQ(plan.advice, "do not act");
  EXPECT_THAT(plan.why, HasSubstr("it pays from 0.92 hours"));
  EXPECT_TRUE(plan.steps.empty());
}

TEST_F(RecoveryPlanTest, WithoutTheHoursThatAreLeftItSaysFromWhen) {
  wish.left_hours = 0;
  EXPECT_EQ(Plan().advice, "unknown");
  EXPECT_THAT(Plan().why, HasSubstr("--left-hours"));
}

TEST_F(RecoveryPlanTest, AJobThatStandsStillIsWorthARestartAtOnce) {
  job.stands_still = true;
  job.since_ns = kNow - 20 * kMinute;
  wish.left_hours = 0;
  const RecoveryPlan plan = Plan();
  EXPECT_EQ(plan.advice, "act");
  EXPECT_NEAR(plan.lost_work_s, 600, 1e-6);  // what was done until it stood
}

TEST_F(RecoveryPlanTest, ATornCheckpointIsPassedOver) {
  checkpoints[0].torn = "its .metadata is missing";
  const RecoveryPlan plan = Plan();
  EXPECT_EQ(plan.checkpoint->step, 100);
  EXPECT_THAT(plan.torn, Contains(HasSubstr(".metadata")));
}

TEST_F(RecoveryPlanTest, WithoutACheckpointAllWorkIsLost) {
  checkpoints.clear();
  const RecoveryPlan plan = Plan();
  EXPECT_NEAR(plan.lost_work_s, 10000, 1e-6);
  EXPECT_THAT(plan.missing, Contains(HasSubstr("a whole checkpoint")));
}

TEST_F(RecoveryPlanTest, WhereNobodyLookedForCheckpointsItPaysBetweenTwoBounds) {
  checkpoints.clear();
  wish.looked = false;
  wish.left_hours = 0;
  RecoveryPlan plan = Plan();
  EXPECT_NEAR(plan.pays_at_best_hours, 1.2 * (180 / 3600.0) / 0.5, 1e-9);
  EXPECT_NEAR(plan.pays_from_hours, 1.2 * (10180 / 3600.0) / 0.5, 1e-9);
  EXPECT_EQ(plan.advice, "unknown");
  EXPECT_THAT(plan.why, HasSubstr("from 0.12 hours of work left on with a checkpoint of just now, "
                                  "from 6.79 without any"));
  EXPECT_THAT(plan.missing, Contains(HasSubstr("the newest checkpoint")));
  wish.left_hours = 5;
  EXPECT_EQ(Plan().advice, "unknown") << "it depends on the checkpoint";
  wish.left_hours = 7;
  EXPECT_EQ(Plan().advice, "act") << "even if all work is lost";
  EXPECT_THAT(Plan().why, HasSubstr("costs at most 180.98 GPU-hours"));
  EXPECT_THAT(Plan().steps, Contains(HasSubstr("load their newest checkpoint, or begin anew")));
  wish.left_hours = 0.1;
  EXPECT_EQ(Plan().advice, "do not act") << "not even if none is";
  EXPECT_THAT(Plan().why, HasSubstr("it pays from 0.12 hours"));
}

TEST_F(RecoveryPlanTest, NothingWithoutASpareAndEachNodeSaysWhy) {
  nodes = {{.name = "a", .connected = true, .ranks = 8},
           {.name = "b", .connected = false},
           {.name = "c", .connected = true, .probe = "faulty"},
           {.name = "d", .connected = true, .held = true},
           {.name = "e", .connected = true, .suspect = true},
           {.name = "f", .connected = true, .probe = "clean", .hardware = "4 x A100"},
           {.name = "g", .connected = true, .repeat_offender = true}};
  const RecoveryPlan plan = Plan();
  EXPECT_EQ(plan.advice, "do not act");
  EXPECT_EQ(plan.why, "there is no spare");
  EXPECT_EQ(plan.not_spares.size(), 7u);
  EXPECT_THAT(plan.not_spares, Contains(HasSubstr("f: it is other hardware")));
}

TEST_F(RecoveryPlanTest, AProbedSpareGoesBeforeOneThatWasNot) {
  nodes.insert(nodes.begin(), {.name = "unprobed", .connected = true});
  EXPECT_EQ(Plan().spare, "free");
  nodes.pop_back();
  EXPECT_EQ(Plan().spare, "unprobed");
  EXPECT_THAT(Plan().missing, Contains(HasSubstr("fathom probe --nodes unprobed")));
}

TEST_F(RecoveryPlanTest, AWeakVerdictNeedsAProbeThatConfirms) {
  job.grade = "supported";
  EXPECT_EQ(Plan().advice, "do not act");
  job.proof = "confirmed";
  EXPECT_EQ(Plan().advice, "act");
  job.grade = "established";
  job.proof = "refuted";
  EXPECT_EQ(Plan().advice, "do not act");
}

TEST_F(RecoveryPlanTest, AVerdictWithoutANodeIsNotActedUpon) {
  job.node = "";
  EXPECT_EQ(Plan().advice, "do not act");
  job.verdict = "";
  EXPECT_EQ(Plan().why, "no verdict stands");
}

TEST(RecoveryFacts, TheStrongestVerdictThatNamesANodeCounts) {
  const Json job = Json::parse(R"({"name":"train","ranks":4,"world_size":4,"iteration":7,
      "iteration_s":2,"baseline_s":1,"slowdown":2})");
  const Json verdicts = Json::parse(R"({"verdicts":[
      {"id":"v1","grade":"hypothesis","cause":"host_slow","entity":{"node":"a"}},
      {"id":"v2","grade":"established","cause":"regression","entity":{}},
      {"id":"v3","grade":"established","cause":"compute_slow","entity":{"node":"b"},
       "cost":{"slowdown":2.5},"proof":{"state":"confirmed"},"class":"noncommunication_slow"},
      {"id":"v4","grade":"established","entity":{"node":"c"},"closed_because":"recovered"}]})");
  const SickJob sick = SickJobOf(job, verdicts);
  EXPECT_EQ(sick.verdict, "v3");
  EXPECT_EQ(sick.node, "b");
  EXPECT_EQ(sick.proof, "confirmed");
  EXPECT_FALSE(sick.stands_still);
  EXPECT_NEAR(sick.slowdown, 2.5, 1e-9);
}

TEST(RecoveryFacts, NodesThatAreHeldAreNoSpares) {
  const Json nodes = Json::parse(R"({"nodes":[{"name":"a","connected":true},{"name":"b"}]})");
  const Json actions = Json::parse(R"({"actions":[{"node":"a","phase":"acted"},
                                                  {"node":"b","phase":"observed"}]})");
  const std::vector<SpareNode> all = NodesOf(nodes, actions);
  EXPECT_TRUE(all[0].held);
  EXPECT_FALSE(all[1].held);
  EXPECT_TRUE(all[0].connected);
}

TEST_F(RecoveryPlanTest, TheJsonHasTheCheckpoint) {
  const Json json = RecoveryJson(job, Plan());
  EXPECT_EQ(json["checkpoint"]["step"], 200);
  EXPECT_EQ(json["advice"], "act");
}

}  // namespace
}  // namespace fathom::collector
