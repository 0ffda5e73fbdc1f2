// `fathom report` as a person and a spreadsheet read it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/cli/month/loss_tables.h"
#include "collector/cli/month/period.h"

namespace fathom::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(PeriodTest, HoursDaysAndWeeks) {
  EXPECT_EQ(*HoursOf("36h"), 36);
  EXPECT_EQ(*HoursOf("30d"), 720);
  EXPECT_EQ(*HoursOf("8w"), 8 * 168);
}

TEST(PeriodTest, WhatIsNoneIsToldWithWhatMayBeWritten) {
  for (const char* wrong :
       {"", "d", "30", "30m", "0d", "-3d", "3.5d", "1e3h", "9999w", "99999999d"}) {
    const auto hours = HoursOf(wrong);
    ASSERT_FALSE(hours.ok()) << wrong;
    EXPECT_THAT(std::string(hours.status().message()), HasSubstr("36h, 30d, 8w")) << wrong;
  }
}

Json Losses() {
  return Json::parse(
      R"json({"since_unix_ns": 1761955200000000000, "until_unix_ns": 1764547200000000000,
    "verdicts_since_unix_ns": 0, "used_gpu_hours": 2000.4, "lost_gpu_hours": 100, "leads_gpu_hours": 3,
    "runs": 12, "jobs": 2,
    "by_week": [{"week_unix_ns": 1761955200000000000, "used_gpu_hours": 500, "lost_gpu_hours": 25}],
    "by_cause": [
      {"name": "dataloader", "owner": "infrastructure", "lost_gpu_hours": 75, "verdicts": 3, "jobs": 2},
      {"name": "compute_slow", "owner": "operations", "lost_gpu_hours": 25, "verdicts": 1, "jobs": 1}],
    "by_node": [{"name": "n17", "lost_gpu_hours": 25, "verdicts": 1, "jobs": 1}],
    "by_team": [{"name": "vision", "used_gpu_hours": 2000.4, "lost_gpu_hours": 100, "verdicts": 4}],
    "by_job": [{"name": "train", "used_gpu_hours": 2000.4, "lost_gpu_hours": 100, "verdicts": 4}],
    "repeat_offenders": [{"node": "n17", "convicted_jobs": 4, "last_convicted_unix_ns": 1764000000000000000}],
    "repeat_jobs": 3,
    "rows": [{"week_unix_ns": 1761955200000000000, "team": "vision", "job": "a,b", "cause": "", "owner": "",
              "node": "", "verdicts": 0, "used_gpu_hours": 1.5, "lost_gpu_hours": 0},
             {"week_unix_ns": 1761955200000000000, "team": "=cmd()", "job": "train \"x\"", "cause": "gc",
              "owner": "algorithm", "node": "n1", "verdicts": 2, "used_gpu_hours": 0, "lost_gpu_hours": 0.25}]
})json");
}

TEST(LossTablesTest, TheFirstLineTellsUsedAndLost) {
  const std::string text = LossTables(Losses(), 12, Terminal());
  EXPECT_THAT(text, StartsWith("2025-11-01 to 2025-12-01: 2000 GPU-hours used in 12 runs of 2 "
                               "jobs, 100 lost (5 %); leads"));
  EXPECT_THAT(text, HasSubstr("dataloader"));
  EXPECT_THAT(text, HasSubstr("75 %"));
  EXPECT_THAT(text, HasSubstr("Repeat offenders"));
  EXPECT_THAT(text, Not(HasSubstr("have left the store")));
}

TEST(LossTablesTest, RecoveriesAreToldByStageWhereAnyRan) {
  EXPECT_THAT(LossTables(Losses(), 12, Terminal()), Not(HasSubstr("Recoveries")));
  Json losses = Losses();
  losses["recoveries"] = Json::parse(R"({"count": 2, "recovered": 1, "stages": [
      {"stage": "detection", "minutes": 12, "gpu_hours": 0},
      {"stage": "restart", "minutes": 3.25, "gpu_hours": 0.4}]})");
  const std::string text = LossTables(losses, 12, Terminal());
  EXPECT_THAT(text, HasSubstr("of 2 recoveries, 1 to the end"));
  EXPECT_THAT(text, testing::ContainsRegex("detection +12.0 +-"));
  EXPECT_THAT(text, testing::ContainsRegex("restart +3.2 +0.4"));
}

TEST(LossTablesTest, OfLongTablesTheRestIsCounted) {
  EXPECT_THAT(LossTables(Losses(), 1, Terminal()), HasSubstr("and 1 more"));
  EXPECT_THAT(LossTables(Losses(), 1, Terminal()), Not(HasSubstr("compute_slow")));
}

TEST(LossTablesTest, AStoreThatDoesNotReachBackSaysSo) {
  Json losses = Losses();
  losses["verdicts_since_unix_ns"] = 1763000000000000000;
  EXPECT_THAT(LossTables(losses, 9, Terminal()),
              HasSubstr("Verdicts from before 2025-11-13 have left the store"));
}

TEST(LossTablesTest, NothingUsedIsNoDivisionByZero) {
  EXPECT_THAT(LossTables(Json::object(), 9, Terminal()), HasSubstr("0 GPU-hours used in 0 runs"));
}

TEST(LossCsvTest, CellsAreQuotedAndNoNameIsAFormula) {
  EXPECT_EQ(LossCsv(Losses()),
            "week,team,job,cause,owner,node,verdicts,used_gpu_hours,lost_gpu_hours\n"
            "2025-11-01,vision,\"a,b\",,,,0,1.500000,0.000000\n"
            "2025-11-01,'=cmd(),\"train \"\"x\"\"\",gc,algorithm,n1,2,0.000000,0.250000\n");
}

}  // namespace
}  // namespace fathom::cli
