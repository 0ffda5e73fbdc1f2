// The journal on disk: what a crash leaves, who may write, and that a damaged line is an error.
#include "collector/cli/remedy/recovery_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "collector/cli/remedy/recovery_history.h"
#include "collector/cli/remedy/recovery_story.h"

namespace fathom::cli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

struct RecoveryJournalTest : testing::Test {
  void SetUp() override {
    folder = fs::temp_directory_path() / ("recovery_journal_" + std::to_string(getpid()));
    file = JournalOf(folder, "train/a");
  }
  void TearDown() override { fs::remove_all(folder); }
  static RecoveryRecord Of(Mark mark, Step step = Step::kNone, std::int64_t at_s = 0) {
    return {.mark = mark, .id = "r1", .step = step, .wall_ns = at_s * 1'000'000'000, .text = "why"};
  }

  fs::path folder, file;
};

TEST_F(RecoveryJournalTest, KeepsWhatWasWrittenAndCutsAHalfLine) {
  {
    auto journal = RecoveryJournal::Open(file);
    ASSERT_TRUE(journal.ok()) << journal.status();
    ASSERT_TRUE((*journal)->Append(Of(Mark::kBegun)).ok());
    ASSERT_TRUE((*journal)->Append(Of(Mark::kIntent, Step::kIsolate)).ok());
  }
  std::ofstream(file, std::ios::app) << R"({"mark":"done","id":"r1","st)";
  auto journal = RecoveryJournal::Open(file);
  ASSERT_TRUE(journal.ok()) << journal.status();
  ASSERT_EQ((*journal)->records().size(), 2u);
  ASSERT_TRUE((*journal)->Append(Of(Mark::kFailed, Step::kIsolate)).ok());
  const auto read = ReadJournal(file);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[1].step, Step::kIsolate);
  EXPECT_EQ((*read)[2].mark, Mark::kFailed);
  EXPECT_EQ((*read)[2].text, "why");
}

TEST_F(RecoveryJournalTest, OneWritesAtATime) {
  auto first = RecoveryJournal::Open(file);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(absl::IsUnavailable(RecoveryJournal::Open(file).status()));
  first->reset();
  EXPECT_TRUE(RecoveryJournal::Open(file).ok());
}

TEST_F(RecoveryJournalTest, ADamagedLineIsSaid) {
  fs::create_directories(folder);
  std::ofstream(file) << R"({"mark":"begun","id":"r1"})"
                      << "\nnonsense\n";
  const auto status = RecoveryJournal::Open(file).status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("line 2"));
  std::ofstream(file) << R"({"mark":"of another age","id":"r1"})"
                      << "\n";
  EXPECT_TRUE(absl::IsDataLoss(ReadJournal(file).status()));
}

TEST_F(RecoveryJournalTest, AJobsNameMakesNoPath) {
  EXPECT_EQ(file.filename(), "train%2Fa.jsonl");
  EXPECT_EQ(JournalOf(folder, "..").filename(), "%2E..jsonl");
}

TEST_F(RecoveryJournalTest, TheRecordTellsTheStages) {
  RecoveryHistory history;
  RecoveryRecord begun = Of(Mark::kBegun, Step::kNone, 110);
  begun.facts = {{"job", "train"},
                 {"isolate", "n3"},
                 {"slowdown", 2.0},
                 {"processes", 4},
                 {"lost_work_s", 30},
                 {"since_unix_ns", 60'000'000'000},
                 {"planned_unix_ns", 100'000'000'000}};
  history.Fold(begun);
  history.Fold(Of(Mark::kIntent, Step::kStandby, 112));
  history.Fold(Of(Mark::kDone, Step::kStandby, 118));
  history.Fold(Of(Mark::kIntent, Step::kIsolate, 118));
  history.Fold(Of(Mark::kDone, Step::kIsolate, 120));
  history.Fold(Of(Mark::kRunning, Step::kNone, 135));
  history.Fold(Of(Mark::kWarm, Step::kNone, 140));
  const collector::RecoveryStages stages = StagesOf(TimesOf(*history.Find()));
  EXPECT_DOUBLE_EQ(stages.detection_s, 40);
  EXPECT_DOUBLE_EQ(stages.decision_s, 12);
  EXPECT_DOUBLE_EQ(stages.isolation_s, 8);
  EXPECT_DOUBLE_EQ(stages.restart_s, 15);
  EXPECT_DOUBLE_EQ(stages.warm_s, 5);
  EXPECT_DOUBLE_EQ(stages.stood_s, 17) << "the standby was made ready while the job ran";
  EXPECT_DOUBLE_EQ(stages.lost_work_s, 30 + 5) << "what was done from the plan to the isolation";
  EXPECT_DOUBLE_EQ(stages.lost_gpu_hours, 4 * (17 + 35) / 3600.0);
  EXPECT_DOUBLE_EQ(stages.won_per_hour, 4);
  EXPECT_THAT(RecoveryRecordText(*history.Find()), HasSubstr("restart"));
  EXPECT_NEAR(RecoveryRecordJson(*history.Find())["stages"]["restart_s"].get<double>(), 15, 1e-9);
}

}  // namespace
}  // namespace fathom::cli
