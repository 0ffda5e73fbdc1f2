// The what-if figures of a real job against those that its authors' own analysis gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>

#include "diagnosis/schedule/what_if.h"
#include "tests/collector/import/ndtimeline/real_trace.h"

namespace fathom::collector::ndtimeline {
namespace {

constexpr double kWithinS = 0.01;
constexpr double kWithinParts = 0.02;

class WhatIfTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HaveRealTrace()) GTEST_SKIP() << "no " << DataPath("trace-ST.parquet");
    const diagnosis::ScheduleTrace trace = RealTrace();
    std::string missing;
    const auto replay = diagnosis::Replay::Of(trace, missing);
    ASSERT_TRUE(replay) << missing;
    what_if_ = diagnosis::WhatIfOf(trace, *replay);
  }

  static void Expect(const std::string& what, double ours, double published, double within) {
    std::printf("  %-42s %9.5f %9.5f %8.4f %%\n", what.c_str(), ours, published,
                100 * (ours / published - 1));
    EXPECT_NEAR(ours, published, within * published) << what;
  }

  diagnosis::WhatIf what_if_;
};

TEST_F(WhatIfTest, SlowdownIsThatOfTheAuthors) {
  const std::string result = "result-ST.json";
  Expect("S", what_if_.slowdown, PublishedNumber(result, "blocking_slowdown"), kWithinS);
  Expect("launch", what_if_.launch_slowdown, PublishedNumber(result, "launch_slowdown"), kWithinS);
  Expect("replayed s", what_if_.replayed_s, PublishedNumber("ms-ST.json", "tori"), kWithinS);
  Expect("ideal s", what_if_.ideal_s, PublishedNumber("ms-ST.json", "tideal"), kWithinS);
}

TEST_F(WhatIfTest, EveryPartIsThatOfTheAuthors) {
  const std::string result = "result-ST.json";
  const auto replicas = PublishedNumbers(result, "blocking_decompose_by_dp_rank");
  ASSERT_EQ(replicas.size(), what_if_.replica.size());
  for (const auto& one : what_if_.replica) {
    const std::string name = std::to_string(one.index);
    Expect("replica " + name, one.slowdown, replicas.at(name), kWithinParts);
  }
  const auto stages = PublishedNumbers(result, "blocking_decompose_by_stage");
  ASSERT_EQ(stages.size(), what_if_.stage.size());
  for (const auto& one : what_if_.stage) {
    const std::string name = std::to_string(one.index);
    Expect("stage " + name, one.slowdown, stages.at(name), kWithinParts);
  }
  const auto kinds = PublishedNumbers(result, "blocking_decompose_by_optype");
  ASSERT_EQ(kinds.size(), what_if_.kind.size());
  for (const auto& one : what_if_.kind) {
    ASSERT_TRUE(kinds.contains(one.name)) << one.name;
    Expect(one.name, one.slowdown, kinds.at(one.name), kWithinParts);
  }
}

TEST_F(WhatIfTest, SharesAreThoseOfTheAuthors) {
  Expect("M_S", what_if_.last_stage_share, PublishedNumber("ms-ST.json", "Ms"), kWithinParts);
  const double worst = PublishedNumber("mw-ST.json", "Mw");
  std::printf("  %-42s %9.5f %9.5f\n", "M_W", what_if_.worst_workers_share, worst);
  EXPECT_NEAR(what_if_.worst_workers_share, worst, kWithinParts);
}

}  // namespace
}  // namespace fathom::collector::ndtimeline
