// Every scenario that comes with the program: the engine names who is at fault, or says that it
// cannot tell; never somebody else.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "collector/simulate/experiment/cpu_time.h"
#include "collector/simulate/experiment/experiment.h"
#include "collector/simulate/experiment/plot_files.h"
#include "collector/simulate/scenario/library.h"
#include "collector/simulate/scenario/scenario_yaml.h"
#include "collector/simulate/trial/score.h"
#include "collector/simulate/trial/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::simulate {
namespace {

class LibraryTest : public ::testing::TestWithParam<LibraryEntry> {};

TEST_P(LibraryTest, IsToldRight) {
  const auto scenario = ParseScenario(GetParam().text, GetParam().name);
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  SessionOptions options;
  options.now = CpuSeconds;
  options.look_every = 10;
  Session session(*scenario, options);
  const Score score = ScoreOf(*scenario, session.Run());
  EXPECT_THAT(score.wrong, ::testing::IsEmpty()) << TruthOf(*scenario);
  EXPECT_EQ(ToString(score.mark), "right") << TruthOf(*scenario);
}

INSTANTIATE_TEST_SUITE_P(All, LibraryTest,
                         ::testing::ValuesIn(ScenarioLibrary().begin(), ScenarioLibrary().end()),
                         [](const auto& entry) { return std::string(entry.param.name); });

TEST(SessionTest, StopsWhenToldAndSaysSo) {
  const auto scenario = ParseScenario("plan: {data: 8}\n", "job");
  ASSERT_TRUE(scenario.ok());
  int asked = 0;
  SessionOptions options;
  options.now = CpuSeconds;
  options.stopped = [&asked] { return ++asked > 7; };
  const Outcome outcome = Session(*scenario, options).Run();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.iterations, 7);
}

struct ExperimentTest : ::testing::Test {
  ExperimentTest() {
    options.runs = 1;
    options.now = CpuSeconds;
    options.print = [this](const std::string& text) { printed += text; };
    options.section = [this](const std::string& title, const std::string& section) {
      page = PageWith(page, title, section);
    };
  }
  ExperimentOptions options;
  std::string printed, page;
};

TEST_F(ExperimentTest, PrintsARowATrialAndKnowsItsNames) {
  ASSERT_TRUE(RunExperiments("dimensions", options).ok());
  EXPECT_THAT(printed, ::testing::HasSubstr("| 6 | 1 |"));
  EXPECT_FALSE(RunExperiments("dimensions,no such", options).ok());
}

TEST_F(ExperimentTest, ASectionOfThePageIsWhatWasPrinted) {
  options.markdown = true;
  ASSERT_TRUE(RunExperiments("endtoend", options).ok());
  const std::string first = page;
  EXPECT_THAT(first, ::testing::StartsWith("# Experiments\n"));
  EXPECT_THAT(first, ::testing::EndsWith(printed));
  page = PageWith(page, "False alarms", "\n## False alarms\n\nNone.\n");
  EXPECT_THAT(page, ::testing::HasSubstr("None.\n\n## Localisation over gRPC\n"));
  page = PageWith(page, "False alarms", "");
  EXPECT_EQ(page, first) << "the others stay as they are";
  page += "\n## By hand\n\nKept.\n";
  page = PageWith(page, "False alarms", "\n## False alarms\n\nNone.\n");
  EXPECT_THAT(page, ::testing::EndsWith("\n## By hand\n\nKept.\n"));
}

struct PageFileTest : ::testing::Test {
  PageFileTest() {
    std::string name = testing::TempDir() + "/page_XXXXXX";
    folder = mkdtemp(name.data());
  }
  ~PageFileTest() override { std::filesystem::remove_all(folder); }
  void Write(const std::string& text) const { std::ofstream(file()) << text; }
  std::string Now() const {
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::filesystem::path file() const { return folder / "page.md"; }
  std::filesystem::path folder;
};

TEST_F(PageFileTest, IsMadeAndRenewed) {
  ASSERT_TRUE(ReadPage(file()).ok());
  SectionsInto(file())("False alarms", "\n## False alarms\n\nNone.\n");
  SectionsInto(file())("Accuracy by scale", "\n## Accuracy by scale\n\nAll.\n");
  EXPECT_EQ(*ReadPage(file()), Now());
  EXPECT_THAT(Now(), ::testing::HasSubstr("All.\n\n## False alarms\n\nNone.\n"));
}

TEST_F(PageFileTest, WhatIsNoPageIsLeftAsItIs) {
  const std::string theirs = "# My notes\n\nNot yours.\n";
  Write(theirs);
  EXPECT_EQ(ReadPage(file()).status().code(), absl::StatusCode::kFailedPrecondition);
  SectionsInto(file())("False alarms", "\n## False alarms\n\nNone.\n");
  EXPECT_EQ(Now(), theirs);
}

TEST_F(PageFileTest, WhatCannotBeReadIsNotWrittenOver) {
  std::filesystem::create_directory(file());
  EXPECT_EQ(ReadPage(file()).status().code(), absl::StatusCode::kUnavailable);
  SectionsInto(file())("False alarms", "\n## False alarms\n\nNone.\n");
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".new"));
}

TEST_F(ExperimentTest, InterruptedItSaysWhatIsLeftAndWritesNoHalfSection) {
  options.stopped = [] { return true; };
  ASSERT_TRUE(RunExperiments("healthy,endtoend", options).ok());
  EXPECT_THAT(printed, ::testing::HasSubstr("Left to do: healthy,endtoend\n"));
  EXPECT_EQ(page, "");
}

}  // namespace
}  // namespace fathom::simulate
