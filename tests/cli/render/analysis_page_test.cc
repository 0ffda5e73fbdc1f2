// The screen of `fathom analyze`: what stands on it, and how little room it takes.
#include "collector/cli/report/analysis_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collector/cli/report/comparison_block.h"
#include "collector/cli/report/ledger_block.h"
#include "collector/cli/report/what_if_block.h"
#include "collector/cli/report/work_lines.h"
#include "tests/cli/render/golden.h"

namespace fathom::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// A report with a verdict of much evidence, many ranks and many gaps.
Json LargeReport(int ranks) {
  Json report = Json::parse(R"({"job": {"name": "train", "ranks": 4, "source": "kineto"},
    "iterations": {"count": "1", "median_s": 0.05}, "verdicts": [], "ranks": [], "abstained": [],
    "coverage": {"signals": [
      {"name": "process_health", "state": "off", "hides": "stopped, dead and starved processes"},
      {"name": "gpu_times", "state": "off", "hides": "slow kernels"}]}})");
  Json verdict = ReadGoldenJson("verdicts.json").at("verdicts")[0];
  const Json evidence = verdict["evidence"][0];
  for (int i = 0; i < 30; ++i) verdict["evidence"].push_back(evidence);
  for (int i = 0; i < 6; ++i) report["verdicts"].push_back(verdict);
  for (int i = 0; i < ranks; ++i) {
    report["ranks"].push_back({{"rank", i},
                               {"compute_s", 1},
                               {"non_compute_s", 1},
                               {"idle_s", 2},
                               {"wait_s", 0.5},
                               {"late_s", i % 7},
                               {"overlap_ratio", 0.25}});
    report["tables"]["ranks"].push_back({{"rank", i}, {"on_device", false}});
  }
  for (int i = 0; i < 9; ++i) {
    report["abstained"].push_back({{"question", "whether it rains"}, {"missing", "a window"}});
  }
  return report;
}

std::size_t LinesIn(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(LedgerBlockTest, TheDowntimeOfRecoveriesStandsBesideTheLoss) {
  Json ledger = Json::parse(R"({"iterations": "100", "used_gpu_s": 7200, "ideal_gpu_s": 7000,
    "lost_gpu_s": 200, "unexplained_gpu_s": 200})");
  EXPECT_THAT(JobLedgerBlock(ledger, 8, Terminal()), Not(HasSubstr("recover")));
  ledger["downtime"] = Json::parse(R"({"recoveries": "1", "recovered": "1", "lost_gpu_s": 1800,
    "stages": [{"stage": "isolation", "seconds": 12}, {"stage": "restart", "seconds": 48}]})");
  EXPECT_THAT(JobLedgerBlock(ledger, 8, Terminal()),
              HasSubstr("  beside that, 0.50 GPU-hours by a recovery: isolation 12.0 s, "
                        "restart 48.0 s\n"));
  ledger["downtime"]["recoveries"] = "3";
  EXPECT_THAT(JobLedgerBlock(ledger, 8, Terminal()), HasSubstr("by 3 recoveries, 1 to the end:"));
}

TEST(AnalysisPageTest, HoweverMuchThereIsItFitsOneScreen) {
  UseUtc();
  AnalysisRemarks remarks;
  remarks.files_read = 1;
  remarks.notes = std::vector<std::string>(50, std::string(300, 'n'));
  for (const int ranks : {0, 1, 4, 8, 4096}) {
    EXPECT_LE(LinesIn(AnalysisPage(LargeReport(ranks), remarks, Terminal())), kScreenLines)
        << ranks;
  }
}

TEST(AnalysisPageTest, TheCulpritIsAmongTheFewRanksShown) {
  const std::string page = AnalysisPage(LargeReport(4096), {}, Terminal());
  EXPECT_THAT(page, HasSubstr("\n     2     25 %"));
  EXPECT_THAT(page, HasSubstr("of 4096 ranks"));
}

TEST(AnalysisPageTest, OneOfAThingIsNoPlural) {
  AnalysisRemarks remarks;
  remarks.files_read = 1;
  const std::string page = AnalysisPage(LargeReport(1), remarks, Terminal());
  EXPECT_THAT(page, HasSubstr("train: 4 ranks, kineto, 1 file, 1 iteration of 50.0 ms"));
}

TEST(AnalysisPageTest, AJobWithoutAGpuLacksNoGpuTimes) {
  const std::string page = AnalysisPage(LargeReport(2), {}, Terminal());
  EXPECT_THAT(page, HasSubstr("Not seen in these files: stopped, dead and starved processes"));
  EXPECT_THAT(page, Not(HasSubstr("slow kernels")));
}

TEST(AnalysisPageTest, VerboseShowsAll) {
  AnalysisRemarks remarks;
  remarks.verbose = true;
  remarks.files_ignored = {"readme.txt"};
  const std::string page = AnalysisPage(LargeReport(2), remarks, Terminal());
  EXPECT_THAT(page, HasSubstr("process_health off, which hides"));
  EXPECT_THAT(page, HasSubstr("readme.txt"));
  EXPECT_GT(LinesIn(page), 180u);
}

TEST(ComparisonBlockTest, ShowsBeforeAfterAndChange) {
  const Json comparison = Json::parse(R"({"result": "slower", "sentence": "The job is slower.",
    "before_s": 0.069, "after_s": 0.101, "chance": 0.001,
    "kinds": [{"name": "compute", "before_s": 0.05, "after_s": 0.08},
              {"name": "copies", "before_s": 0, "after_s": 0}],
    "parts": [{"name": "op aten::mm", "before_s": 0.02, "after_s": 0.05},
              {"name": "op aten::new", "before_s": 0, "after_s": 0.01}]})");
  ExpectGolden(ComparisonBlock(comparison, Terminal()), "comparison.txt");
  EXPECT_EQ(ComparisonBlock(Json::object(), Terminal()), "");
}

TEST(ComparisonBlockTest, WhatIsNotComparedHasNoTable) {
  const Json comparison = Json::parse(
      R"({"result": "unrelated", "sentence": "Not of the same job.", "before_s": 1, "after_s": 2})");
  EXPECT_THAT(ComparisonBlock(comparison, Terminal()), Not(HasSubstr("BEFORE")));
}

TEST(WorkLinesTest, OneLineForEachTableWithData) {
  const Json tables = Json::parse(R"json({
    "ranks": [{"rank": 0, "host_wait_s": 3, "kernel_wait_s": 1, "other_idle_s": 0,
               "launches": "100", "launch_call_s": 5e-6, "launch_delay_s": 2e-5,
               "launch_delay_p99_s": 1e-4, "queue_mean": 2.5, "queue_max": "9"}],
    "kinds": [{"kind": "compute", "sum_s": 9}, {"kind": "communication", "sum_s": 1}],
    "work": [{"kind": "compute", "name": "void gemm<float>(int, long)", "sum_s": 9},
             {"kind": "communication", "name": "ncclDevKernel_AllReduce(x)", "sum_s": 1}],
    "copies": [{"kind": "HtoD", "bytes": "2000000000", "bandwidth_bytes_per_s": 12e9}],
    "path": [{"rank": 3, "segment": "local", "longest": "train.py(26): step", "sum_s": 6},
             {"rank": 1, "segment": "communication", "op": "all_reduce", "sum_s": 4}],
    "path_s": 10
})json");
  ExpectGolden(WorkLines(tables, Terminal()), "work_lines.txt");
  EXPECT_EQ(WorkLines(Json::object(), Terminal()), "");
}

TEST(LedgerBlockTest, SharesAndTheRestSumToTheLoss) {
  const Json ledger = Json::parse(R"({"used_gpu_s": 12.4, "ideal_gpu_s": 9.3, "lost_gpu_s": 3.1,
    "unexplained_gpu_s": 0.5, "iterations": "5", "shares": [
      {"entity": {"type": "rank", "ranks": [5]}, "cause": "compute_slow", "lost_gpu_s": 2.0,
       "gain_s_per_iteration": 0.0412},
      {"entity": {"type": "group", "ranks": [0, 1, 2]}, "cause": "communication_slow",
       "lost_gpu_s": 0.6, "gain_s_per_iteration": 0.01},
      {"entity": {"type": "rank", "ranks": [7]}, "cause": "host_slow", "hidden": true}]})");
  ExpectGolden(LedgerBlock(ledger, Terminal()), "ledger.txt");
  EXPECT_EQ(LedgerBlock(Json::object(), Terminal()), "");
}

TEST(WhatIfBlockTest, SpeaksOfSecondsAndSaysWhyAShareIsAboveAll) {
  const Json what_if = Json::parse(R"({"slowdown": 1.18, "measured_s": 2.21, "replayed_s": 2.17,
    "ideal_s": 1.84, "last_stage_share": 1.22, "only": {
      "stage": [{"index": 3, "slowdown": 1.23, "saved_s": 0.4},
                {"index": 0, "slowdown": 0.99, "saved_s": -0.1}],
      "worker": [{"ranks": [7], "slowdown": 1.2, "saved_s": 0.012}],
      "kind": [{"name": "forward-compute", "slowdown": 1.09}]}})");
  ExpectGolden(WhatIfBlock(what_if, Terminal()), "what_if.txt");
  EXPECT_EQ(WhatIfBlock(Json::object(), Terminal()), "");
}

}  // namespace
}  // namespace fathom::cli
