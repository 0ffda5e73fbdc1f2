// The plan of a node, on made-up costs.
#include "daemon/agent/budget/node_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fathom::agent {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kLook_s = 5;

// A node whose job does `ops` a second on each of `ranks`; what the agent does costs as was
// measured on a machine, and follows from the paces that hold.
class Node {
 public:
  explicit Node(const Spend& budget) : planner(budget) {}

  bool Look() {
    now_ = now_ + Nanos::FromSeconds(kLook_s);
    const Paces& paces = planner.plan().paces;
    Observed seen;
    seen.seconds = kLook_s;
    seen.rest_s = 0.0075;
    seen.ring_s = ops > 0 ? ring_records / (4 * ops) : 0;
    const double rest = std::max(seen.rest_s * paces.Of(Knob::kPolling), 1e-4);
    const double turns = kLook_s / rest;
    Put(seen, WorkPart::kPolling, turns, 0, turns * turn_ns);
    Put(seen, WorkPart::kRecords, turns, 4 * ops * ranks * kLook_s, 4 * ops * ranks * kLook_s * 60);
    const double threads = ranks * kLook_s / std::max(rest, paces.Of(Knob::kThreads) / 1e3);
    Put(seen, WorkPart::kThreads, threads, threads, threads * sample_ns);
    Put(seen, WorkPart::kHealth, kLook_s, ranks * kLook_s, ranks * kLook_s * 50'000);
    const bool streams = ops_wanted && paces.Of(Knob::kOps) > 0;
    seen.ops_wanted = ops_wanted;
    const double all = ops * ranks * kLook_s;
    seen.ops_sent = streams ? all : 0;
    seen.ops_passed = ops_wanted && !streams ? all : 0;
    seen.ops_bytes = seen.ops_sent * 12;
    if (streams) Put(seen, WorkPart::kOps, 20, all, all * 300);
    seen.bytes = seen.ops_bytes + 2000 * kLook_s;
    for (const auto& cost : seen.costs) cpu_s_ += static_cast<double>(cost.cpu_ns) * 1e-9;
    seen.process_cpu_s = cpu_s_;
    seen.memory = 20 * kMiB;
    seen.log_row_bytes = 130;
    seen.log_most_rows = 65'536;
    for (int r = 0; r < ranks; ++r) seen.logs.push_back({0, ops, 600});
    last_ = seen;
    return planner.Look(seen, now_);
  }
  void Looks(int count) {
    for (int i = 0; i < count; ++i) Look();
  }
  std::size_t LevelOf(Knob knob) const {
    return planner.plan().paces.level[static_cast<std::size_t>(knob)];
  }
  MonoNs now() const { return now_; }
  const Observed& last() const { return last_; }

  NodePlanner planner;
  double ops = 100;
  int ranks = 8;
  double ring_records = 65'536;
  double turn_ns = 20'000, sample_ns = 2'000;
  bool ops_wanted = false;

 private:
  static void Put(Observed& seen, WorkPart part, double runs, double events, double ns) {
    seen.costs[static_cast<std::size_t>(part)] = {static_cast<std::int64_t>(ns),
                                                  static_cast<std::uint64_t>(runs),
                                                  static_cast<std::uint64_t>(events)};
  }

  MonoNs now_{1'000'000'000};
  double cpu_s_ = 0;
  Observed last_;
};

constexpr Spend kAmple{1, 1e9, 1024 * kMiB};
constexpr Spend kUsual{0.01, 125'000, 64 * kMiB};

TEST(NodePlannerTest, WithinTheBudgetAllIsAsFineAsItIsSet) {
  Node node(kAmple);
  node.Looks(20);
  EXPECT_EQ(node.planner.plan().paces, Paces());
  EXPECT_EQ(node.planner.plan().changes, 0u);
  EXPECT_TRUE(node.planner.plan().fits);
  EXPECT_FALSE(node.planner.plan().parts.empty());
}

TEST(NodePlannerTest, ComesIntoTheBudgetAndStaysThere) {
  Node node(kUsual);
  node.turn_ns = 60'000;
  node.sample_ns = 6'000;
  node.Looks(60);
  EXPECT_TRUE(node.planner.plan().fits);
  EXPECT_LE(node.planner.plan().spend.cores, kUsual.cores);
  EXPECT_GT(node.LevelOf(Knob::kPolling) + node.LevelOf(Knob::kThreads), 0u);
  const std::uint64_t changes = node.planner.plan().changes;
  node.Looks(60);
  EXPECT_EQ(node.planner.plan().changes, changes) << "what does not change is left as it is";
}

// A pace that was changed is reckoned with at once: the next look plans with what it will cost.
TEST(NodePlannerTest, ACoarserPaceIsPlannedWithAsItIs) {
  Node node(kUsual);
  node.sample_ns = 12'000;
  for (int i = 0; i < 60 && node.LevelOf(Knob::kThreads) == 0; ++i) node.Look();
  ASSERT_GT(node.LevelOf(Knob::kThreads), 0u);
  const std::size_t chosen = node.LevelOf(Knob::kThreads);
  node.Look();
  EXPECT_EQ(node.LevelOf(Knob::kThreads), chosen);
  const auto& parts = node.planner.plan().parts;
  const auto at = std::find_if(parts.begin(), parts.end(),
                               [](const auto& part) { return part.name == "threads"; });
  ASSERT_NE(at, parts.end());
  const double pace_s = node.planner.plan().paces.Of(Knob::kThreads) / 1e3;
  EXPECT_NEAR(at->spend.cores, node.ranks / pace_s * node.sample_ns * 1e-9, 0.3 * at->spend.cores);
}

TEST(NodePlannerTest, TenTimesTheOpsAreMetAtOnceAndNeverLate) {
  Node node({0.012, 125'000, 64 * kMiB});
  node.ops_wanted = true;
  node.ops = 60;
  node.Looks(40);
  const Paces before = node.planner.plan().paces;
  ASSERT_TRUE(node.planner.plan().fits);
  node.ops *= 10;
  EXPECT_TRUE(node.Look()) << "in the first look at it";
  EXPECT_NE(node.planner.plan().paces, before);
  EXPECT_TRUE(node.planner.plan().fits);
  const auto never_late = [&] {
    const double rest = node.last().rest_s * node.planner.plan().paces.Of(Knob::kPolling);
    return rest * NodePlanner::kTurnsOfARing <= node.last().ring_s;
  };
  EXPECT_TRUE(never_late());
  for (int i = 0; i < 30; ++i) {
    node.Look();
    EXPECT_TRUE(never_late());
  }
}

TEST(NodePlannerTest, APaceAtWhichARingWouldBeOverrunIsNotKept) {
  Node node({0.001, 125'000, 64 * kMiB});
  node.Looks(30);
  ASSERT_EQ(node.LevelOf(Knob::kPolling), 3u) << "a small budget, so as seldom as it goes";
  node.ring_records = 64;  // full within 160 ms at 100 ops a second
  EXPECT_TRUE(node.Look());
  EXPECT_LE(node.last().rest_s * node.planner.plan().paces.Of(Knob::kPolling) *
                NodePlanner::kTurnsOfARing,
            node.last().ring_s);
  EXPECT_EQ(node.planner.plan().why, "the rings fill faster");
}

TEST(NodePlannerTest, ARateThatSwingsDoesNotMakeThePlanSwing) {
  Node node({0.012, 40'000, 64 * kMiB});
  node.ops_wanted = true;
  node.Looks(20);
  const std::uint64_t before = node.planner.plan().changes;
  for (int i = 0; i < 40; ++i) {
    node.ops = i % 2 == 0 ? 500 : 60;
    node.Look();
  }
  EXPECT_LE(node.planner.plan().changes, before + 2);
}

TEST(NodePlannerTest, BecomesFinerAgainOnceThereIsRoom) {
  Node node({0.012, 40'000, 64 * kMiB});
  node.ops_wanted = true;
  node.ops = 1000;
  node.Looks(20);
  ASSERT_EQ(node.LevelOf(Knob::kOps), 1u);
  node.ops = 5;
  node.Looks(NodePlanner::kCalmLooks - 1);
  EXPECT_EQ(node.LevelOf(Knob::kOps), 1u) << "not at once";
  node.Looks(40);
  EXPECT_EQ(node.LevelOf(Knob::kOps), 0u);
}

TEST(NodePlannerTest, LogsOfManyRanksAreCutToTheMemory) {
  Node node(kUsual);
  node.ops = 1000;
  node.Looks(10);
  EXPECT_GT(node.LevelOf(Knob::kLog), 0u) << "8 × 65,536 × 130 bytes are more than 64 MiB";
  EXPECT_LE(node.planner.plan().spend.memory, kUsual.memory);
}

TEST(NodePlannerTest, SaysWhereNothingHelps) {
  Node node({1e-6, 125'000, 64 * kMiB});
  node.Looks(10);
  EXPECT_FALSE(node.planner.plan().fits);
}

TEST(NodePlannerTest, ACaptureIsSampledAsOftenAsTheBudgetOfTenMinutesAllows) {
  Node ample(kAmple);
  ample.Looks(3);
  EXPECT_EQ(ample.planner.CaptureRate(8, 4, 100, ample.now()), 100u);
  Node node(kUsual);
  node.Looks(60);
  EXPECT_EQ(node.planner.CaptureRate(8, 4, 100, node.now()), 100u) << "0.96 s of 3";
  node.Look();
  const auto& parts = node.planner.plan().parts;
  const auto captures = std::find_if(parts.begin(), parts.end(),
                                     [](const PlanPart& part) { return part.name == "captures"; });
  ASSERT_NE(captures, parts.end());
  EXPECT_NEAR(captures->spend.cores, 0.96 / NodePlanner::kBurst_s, 1e-6);
  for (int i = 0; i < 4; ++i) node.planner.CaptureRate(8, 4, 100, node.now());
  EXPECT_EQ(node.planner.CaptureRate(8, 4, 100, node.now()), NodePlanner::kLeastRate)
      << "never fewer than tell something";
  EXPECT_EQ(node.planner.CaptureRate(8, 4, 5, node.now()), 5u) << "never more than was asked";
  node.Looks(static_cast<int>(NodePlanner::kBurst_s / kLook_s) + 1);
  EXPECT_EQ(node.planner.CaptureRate(8, 4, 100, node.now()), 100u) << "ten minutes later";
}

}  // namespace
}  // namespace fathom::agent
