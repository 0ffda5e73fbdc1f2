// Inspector's files through the importer, Watch and Diagnose: who is named, and what is not told.
#include "collector/import/nccl/inspector_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "tests/collector/import/judged_recording.h"
#include "tests/collector/import/nccl/nccl_job.h"

namespace fathom::collector::nccl {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const diagnosis::SignalState* SignalOf(const Recording& recording, std::string_view name) {
  for (const auto& signal : recording.view.signals) {
    if (signal.name == name) return &signal;
  }
  return nullptr;
}

class InspectorVersions : public ::testing::TestWithParam<const char*> {
 protected:
  InspectorVersions() { job_.version = GetParam(); }
  NcclJob job_;
};

TEST_P(InspectorVersions, HealthyAccusesNobody) {
  Recording recording = ReadJob(InspectorFiles(job_));
  const auto diagnosis = Judge(recording);
  EXPECT_THAT(diagnosis.verdicts, IsEmpty()) << AllOf(recording, diagnosis);
  EXPECT_EQ(recording.source, "nccl-inspector");
  EXPECT_EQ(recording.view.world_size, 4u);
  EXPECT_EQ(recording.view.nodes, 2u);
  EXPECT_THAT(recording.view.window, SizeIs(39)) << "between the ends of 40 steps";
}

TEST_P(InspectorVersions, ALateRankIsNamedWithoutACause) {
  job_.slow_rank = 2;
  Recording recording = ReadJob(InspectorFiles(job_));
  const auto diagnosis = Judge(recording);
  ASSERT_THAT(diagnosis.verdicts, SizeIs(1)) << AllOf(recording, diagnosis);
  EXPECT_THAT(diagnosis.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_EQ(diagnosis.verdicts[0].cause, diagnosis::Cause::kUnknown)
      << "the files know nothing of what a rank does between collectives";
  EXPECT_EQ(diagnosis.verdicts[0].since_iteration, Iteration(19));
}

// RCCL's Inspector and builds of 2.28 print the length of an op as a decimal.
TEST_P(InspectorVersions, LengthsMayBeDecimals) {
  const Recording whole = ReadJob(InspectorFiles(job_));
  auto files = InspectorFiles(job_);
  for (std::string& text : files) {
    text = absl::StrReplaceAll(text, {{R"(,"coll_timing_source")", R"(.0,"coll_timing_source")"}});
  }
  const Recording decimal = ReadJob(files);
  ASSERT_EQ(decimal.tables.size(), whole.tables.size());
  ASSERT_THAT(whole.tables[0].kernels, Not(IsEmpty()));
  EXPECT_EQ(decimal.tables[0].kernels[0].sum, whole.tables[0].kernels[0].sum);
}

TEST_P(InspectorVersions, SlowTransfersAccuseNoRank) {
  job_.transfer_factor = 6;
  Recording recording = ReadJob(InspectorFiles(job_));
  const auto diagnosis = Judge(recording);
  for (const auto& verdict : diagnosis.verdicts) {
    EXPECT_EQ(verdict.cause, diagnosis::Cause::kCommunicationSlow) << AllOf(recording, diagnosis);
  }
}

TEST_P(InspectorVersions, WithoutTimesItAbstainsAndSaysWhatToSet) {
  job_.verbose = false;
  job_.slow_rank = 2;
  Recording recording = ReadJob(InspectorFiles(job_));
  const auto diagnosis = Judge(recording);
  EXPECT_THAT(diagnosis.verdicts, IsEmpty());
  EXPECT_THAT(recording.view.window, IsEmpty());
  const auto* summaries = SignalOf(recording, "summaries");
  ASSERT_NE(summaries, nullptr);
  EXPECT_EQ(summaries->level, diagnosis::SignalState::Level::kOff);
  EXPECT_THAT(summaries->hides, HasSubstr("NCCL_INSPECTOR_DUMP_VERBOSE=1"));
  ASSERT_THAT(recording.tables, SizeIs(4)) << "how long ops ran is known all the same";
  EXPECT_EQ(recording.tables[0].kernels.front().kind, "communication");
}

INSTANTIATE_TEST_SUITE_P(Formats, InspectorVersions, ::testing::Values("v4.0", "v4.2", "v4.3"));

TEST(Inspector, AnOpIsItsKernelByTheDevicesClock) {
  const NcclJob job;
  const auto runs = RunsOf(job);
  const Recording recording = ReadJob(InspectorFiles(job));
  const auto& ops = recording.view.rows.at(RankId(1)).ops;
  ASSERT_EQ(ops.size(), runs[1].size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    EXPECT_NEAR(ops[i].elapsed().Seconds(), (runs[1][i].end_us - runs[1][i].begin_us) * 1e-6, 1e-6);
    EXPECT_EQ(ops[i].bytes, runs[1][i].bytes);
  }
}

TEST(Inspector, AnAbsentRankIsMissingAndTheRestJudged) {
  NcclJob job;
  job.slow_rank = 2;
  auto files = InspectorFiles(job);
  files.pop_back();
  Recording recording = ReadJob(files);
  EXPECT_EQ(recording.view.world_size, 4u);
  EXPECT_THAT(recording.ranks_missing, ElementsAre(RankId(3)));
  for (const auto& verdict : Judge(recording).verdicts) {
    EXPECT_THAT(verdict.entity.ranks, ElementsAre(RankId(2)));
  }
}

TEST(Inspector, ACutFileIsReadAsFarAsItGoes) {
  NcclJob job;
  auto files = InspectorFiles(job);
  files[1].resize(files[1].size() / 2);
  const Recording recording = ReadJob(files);
  EXPECT_THAT(recording.notes, Contains(HasSubstr("file1: ends early")));
  EXPECT_GT(recording.view.rows.at(RankId(1)).ops.size(), 50u);
  EXPECT_GT(recording.view.window.size(), 15u);
}

TEST(Inspector, ATornLineCostsItself) {
  NcclJob job;
  auto files = InspectorFiles(job);
  const std::size_t line = files[0].find('\n', files[0].size() / 2) + 1;
  files[0].erase(line + 100, 300);
  const Recording recording = ReadJob(files);
  EXPECT_THAT(recording.notes, Contains(HasSubstr("file0: 1 objects make no sense")));
  const std::size_t whole = recording.view.rows.at(RankId(1)).ops.size();
  EXPECT_THAT(recording.view.rows.at(RankId(0)).ops.size(), AnyOf(whole - 1, whole - 2));
}

TEST(Inspector, ASecondFileOfARankIsLeftOut) {
  NcclJob job;
  auto files = InspectorFiles(job);
  files.push_back(files[0].substr(0, files[0].size() / 3));
  const Recording recording = ReadJob(files);
  EXPECT_THAT(recording.notes, Contains(HasSubstr("tells again of rank 0")));
  EXPECT_EQ(recording.view.rows.at(RankId(0)).ops.size(),
            recording.view.rows.at(RankId(1)).ops.size());
}

TEST(Inspector, RanksThatNoCommunicatorJoinsAreRefused) {
  NcclJob job;
  auto files = InspectorFiles(job);
  for (std::size_t i = 2; i < 4; ++i) {
    absl::StrReplaceAll({{"0xe62dedaa97644a", "0x1"}}, &files[i]);
  }
  const auto recording = ReadTexts(files, "file");
  ASSERT_FALSE(recording.ok());
  EXPECT_THAT(std::string(recording.status().message()), HasSubstr("no communicator holds all 4"));
}

TEST(Inspector, SmallerCommunicatorsBelongToTheRanksOfTheirProcesses) {
  NcclJob job;
  auto files = InspectorFiles(job);
  for (int rank : {1, 3}) {  // numbers 0 and 1 of a communicator of their own
    auto& file = files[static_cast<std::size_t>(rank)];
    std::string line =
        InspectorLine(job, rank / 2, "0xabc", 2, {"AllGather", 7, 640, 1e6, 1e6, 2e6});
    absl::StrReplaceAll({{"node-0", "node-" + std::to_string(rank / 2)},
                         {"\"pid\":43877" + std::to_string(6 + rank / 2),
                          "\"pid\":43877" + std::to_string(6 + rank)}},
                        &line);
    file += line;
  }
  Recording recording = ReadJob(files);
  const auto& group = GroupOf(recording, "0xabc");
  EXPECT_EQ(group.size, 2u);
  EXPECT_THAT(group.members, ElementsAre(RankId(1), RankId(3)));
}

TEST(Inspector, AReportThatLostOpsSaysHowMany) {
  NcclJob job;
  job.version = "v4.2";
  auto files = InspectorFiles(job);
  absl::StrReplaceAll({{"\"coll_dropped_total\":0", "\"coll_dropped_total\":512"}}, &files[0]);
  EXPECT_THAT(ReadJob(files).notes, Contains(HasSubstr("512 ops were lost")));
}

TEST(Inspector, IsKnownByItsContent) {
  const std::string head = InspectorFiles(NcclJob{})[0].substr(0, 4096);
  EXPECT_TRUE(InspectorImporter().Recognises("x", head));
  EXPECT_FALSE(InspectorImporter().Recognises("host-pid1.log", "{\"header\":{}}"));
}

}  // namespace
}  // namespace fathom::collector::nccl
