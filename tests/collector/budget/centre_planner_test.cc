// The plan of a collector, on made-up costs.
#include "collector/budget/centre_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace fathom::collector {
namespace {

using service::kNoLimit;
using service::PlanPart;
using service::Spend;

constexpr double kMiB = 1 << 20;
constexpr double kLook_s = 5;

// A collector of jobs that are all well but one; what it does costs as often as its plan says.
class Centre {
 public:
  explicit Centre(const Spend& budget) : planner(budget) {}

  bool Look() {
    now_ = now_ + Nanos::FromSeconds(kLook_s);
    CentreSeen seen;
    seen.seconds = kLook_s;
    const auto often = [this](CentreKnob knob) {
      return kLook_s / (FactsOf(knob).values[planner.LevelOf(knob)] / 1e3);
    };
    Put(seen, CentrePart::kMessages, messages * kLook_s, message_ns);
    Put(seen, CentrePart::kLooks, jobs * often(CentreKnob::kLooks), look_ns);
    Put(seen, CentrePart::kPaths, jobs * often(CentreKnob::kPaths), path_ns);
    Put(seen, CentrePart::kUrgent, urgent * kLook_s, look_ns);
    for (const auto& cost : seen.costs) cpu_s_ += static_cast<double>(cost.cpu_ns) * 1e-9;
    cpu_s_ += others * kLook_s;
    seen.process_cpu_s = cpu_s_;
    seen.looks.assign(static_cast<std::size_t>(jobs), {look_ns * 1e-9, 0.25});
    const double shown_may =
        kShownMost * FactsOf(CentreKnob::kShown).values[planner.LevelOf(CentreKnob::kShown)];
    seen.shown.assign(4, std::min(shown_rows, shown_may));
    seen.shown_most = kShownMost;
    seen.shown_row_bytes = 150;
    seen.memory = 100 * kMiB + 4 * seen.shown.front() * 150;
    return planner.Look(seen, now_);
  }
  void Looks(int count) {
    for (int i = 0; i < count; ++i) Look();
  }
  const PlanPart& Part(const std::string& name) const {
    const auto& parts = planner.plan().parts;
    return *std::find_if(parts.begin(), parts.end(),
                         [&](const PlanPart& part) { return part.name == name; });
  }
  std::size_t Looks() const { return planner.LevelOf(CentreKnob::kLooks); }

  static constexpr double kShownMost = 100'000;
  CentrePlanner planner;
  double messages = 100, message_ns = 20'000;
  double jobs = 20, look_ns = 2e6, path_ns = 1e6;
  double urgent = 0;  // looks a second
  double others = 0.01;
  double shown_rows = 0;

 private:
  static void Put(CentreSeen& seen, CentrePart part, double events, double ns) {
    seen.costs[static_cast<std::size_t>(part)] = {static_cast<std::int64_t>(events * ns),
                                                  static_cast<std::uint64_t>(events),
                                                  static_cast<std::uint64_t>(events)};
  }

  MonoNs now_{1'000'000'000};
  double cpu_s_ = 0;
};

constexpr Spend kNone{kNoLimit, kNoLimit, kNoLimit};

TEST(CentrePlannerTest, WithoutABudgetAllIsAsFineAsItIsSet) {
  Centre centre(kNone);
  centre.jobs = 10'000;
  centre.Looks(30);
  for (std::size_t k = 0; k < kCentreKnobs; ++k) {
    EXPECT_EQ(centre.planner.LevelOf(static_cast<CentreKnob>(k)), 0u) << k;
  }
  EXPECT_TRUE(centre.planner.plan().fits);
  EXPECT_EQ(centre.planner.plan().changes, 0u);
}

TEST(CentrePlannerTest, TellsWhatEachPartTakes) {
  Centre centre(kNone);
  centre.Looks(3);
  EXPECT_NEAR(centre.Part("looks").spend.cores, 20 * 4 * 0.002, 1e-9);
  EXPECT_NEAR(centre.Part("messages").spend.cores, 100 * 20e-6, 1e-9);
  EXPECT_NEAR(centre.Part("messages").ns_per_event, 20'000, 1);
  EXPECT_NEAR(centre.Part("others").spend.cores, 0.01, 1e-6);
  EXPECT_NEAR(centre.Part("others").spend.memory, 100 * kMiB, 1);
  EXPECT_EQ(centre.Part("looks").rate, "every 250 ms");
}

TEST(CentrePlannerTest, OverloadIsMetWithinOneLook) {
  Centre centre({0.25, kNoLimit, kNoLimit});
  centre.Looks(10);
  ASSERT_EQ(centre.Looks(), 0u) << "0.16 for looks, 0.01 for paths, 0.012 for the rest";
  centre.jobs *= 10;
  EXPECT_TRUE(centre.Look());
  EXPECT_EQ(centre.Looks(), 3u) << "1.6 of a core for looks, 0.2 at two seconds";
  EXPECT_GT(centre.planner.LevelOf(CentreKnob::kPaths), 0u);
  EXPECT_NE(centre.planner.plan().why.find("times the budget: looks every 2000 ms, paths every"),
            std::string::npos)
      << centre.planner.plan().why;
}

TEST(CentrePlannerTest, WhatWasMadeCoarserCountsAsThatFromThenOn) {
  Centre centre({0.25, kNoLimit, kNoLimit});
  centre.jobs = 100;
  centre.Looks(2);
  const std::uint64_t changes = centre.planner.plan().changes;
  ASSERT_GT(centre.Looks(), 0u);
  EXPECT_TRUE(centre.planner.plan().fits);
  centre.Looks(4);
  EXPECT_EQ(centre.planner.plan().changes, changes) << "the rate before is no reason for more";
}

TEST(CentrePlannerTest, WhatJustFitsIsLeftAlone) {
  Centre centre({0.185, kNoLimit, kNoLimit});
  centre.Looks(60);
  EXPECT_EQ(centre.planner.plan().changes, 0u) << centre.planner.plan().why;
  EXPECT_TRUE(centre.planner.plan().fits);
}

TEST(CentrePlannerTest, FinerOnlyAfterHalfAMinute) {
  Centre centre({0.25, kNoLimit, kNoLimit});
  centre.jobs = 200;
  centre.Looks(5);
  ASSERT_GT(centre.Looks(), 0u);
  centre.jobs = 20;
  int needed = 0;
  while (!centre.Look()) ++needed;
  EXPECT_GE(needed + 1, service::LevelKeeper::kCalmLooks);
  centre.Looks(60);
  EXPECT_EQ(centre.Looks(), 0u);
}

TEST(CentrePlannerTest, LooksThatShowSomethingAreNeverMadeCheaper) {
  Centre centre({0.1, kNoLimit, kNoLimit});
  centre.jobs = 0;
  centre.urgent = 100;
  centre.Looks(10);
  EXPECT_FALSE(centre.planner.plan().fits);
  EXPECT_NEAR(centre.planner.plan().spend.Times(centre.planner.plan().budget), 2.12, 0.05);
  EXPECT_EQ(centre.Looks(), 0u) << "coarser would win nothing";
}

TEST(CentrePlannerTest, AJobsOwnShareMakesCoarserLevelsWinNothing) {
  Centre centre({0.1, kNoLimit, kNoLimit});
  CentreSeen seen;
  seen.seconds = kLook_s;
  seen.costs[static_cast<std::size_t>(CentrePart::kLooks)] = {1'250'000'000, 2, 2};
  seen.looks = {{0.625, 2.5}};  // of a very large job
  centre.planner.Look(seen, MonoNs(1));
  EXPECT_FALSE(centre.planner.plan().fits);
  EXPECT_EQ(centre.Looks(), 0u) << "it is looked at every 2.5 s in any case";
}

TEST(CentrePlannerTest, RowsOfPagesAreCutToTheMemory) {
  Centre centre({kNoLimit, kNoLimit, 130 * kMiB});
  centre.shown_rows = 100'000;
  centre.Looks(5);
  EXPECT_EQ(centre.planner.LevelOf(CentreKnob::kShown), 1u) << "57 MiB, and 29 with a half";
  EXPECT_TRUE(centre.planner.plan().fits);
  const std::uint64_t changes = centre.planner.plan().changes;
  centre.Looks(60);
  EXPECT_EQ(centre.planner.plan().changes, changes) << "what fills its half would fill the whole";
}

}  // namespace
}  // namespace fathom::collector
