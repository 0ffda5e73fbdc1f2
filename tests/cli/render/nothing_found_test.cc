#include "collector/cli/report/nothing_found.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json Report(const std::string& text) { return Json::parse(text); }

TEST(NothingFound, SaysWhenTheJobIsSlowAndNobodyCouldBeNamed) {
  const std::string line = NothingFound(
      Report(R"({"iterations": {"count": "9", "irregular": [{"index": "5", "kind": "spike"},
                 {"index": "7", "kind": "degradation"}]},
                 "abstained": [{"question": "who", "missing": "ops"}]})"),
      0.05, 0.1);
  EXPECT_THAT(line, HasSubstr("became slower at iteration 7"));
  EXPECT_THAT(line, Not(HasSubstr("Nothing wrong")));
}

TEST(NothingFound, ASlowJobIsNeverWell) {
  const std::string line = NothingFound(
      Report(
          R"({"iterations":{"count": "70", "irregular":[{"index": "40", "kind": "degradation"}]}})"),
      0.06, 0.3);
  EXPECT_THAT(line, HasSubstr("slower at iteration 40"));
  EXPECT_THAT(line, HasSubstr("could not be told before the recording ended."));
}

TEST(NothingFound, TellsOfAStretchThatIsOver) {
  const std::string line =
      NothingFound(Report(R"({"iterations": {"count": "20", "median_s": 0.05, "irregular": [
                 {"index": "3", "kind": "spike", "duration_s": 0.9},
                 {"index": "8", "kind": "passed", "duration_s": 0.11},
                 {"index": "9", "kind": "passed", "duration_s": 0.12},
                 {"index": "10", "kind": "passed", "duration_s": 0.13}]},
                 "abstained": [{"question": "who held", "missing": "ops"}]})"),
                   0.05, 0.1);
  EXPECT_THAT(line, HasSubstr("Iterations 8 to 10 took longer, 120 ms instead of 50.0 ms, and"));
  EXPECT_THAT(line, HasSubstr("could not be told"));
  EXPECT_THAT(line, Not(HasSubstr("Nothing wrong")));
}

TEST(NothingFound, SaysWhenNothingCanBeTold) {
  const std::string no_times =
      R"({"iterations": {"count": "0"}, "abstained": [{"question": "who", "missing": "times"}],
          "coverage": {"signals": [{"name": "summaries", "state": "off"}]}})";
  EXPECT_THAT(NothingFound(Report(no_times), 0, 0), HasSubstr("cannot be told"));
  const std::string dumps =
      R"({"iterations": {"count": "0"}, "abstained": [{"question": "what", "missing": "a record"}],
          "coverage": {"signals": [{"name": "flight recorder", "state": "on"}]}})";
  EXPECT_THAT(NothingFound(Report(dumps), 0, 0), HasSubstr("Whether the job stood still"));
}

TEST(NothingFound, DumpsThatLeaveAQuestionOpenAreNotWell) {
  const auto of = [](const std::string& question, const std::string& missing) {
    return NothingFound(
        Report(R"({"iterations": {"count": "0"}, "abstained": [{"question": ")" + question +
               R"(", "missing": "dumps"}], "coverage": {"ranks_missing": [)" + missing +
               R"(], "signals": [{"name": "flight recorder", "state": "partly"}]}})"),
        0, 0);
  };
  EXPECT_EQ(of("why the job stands still", ""),
            "The job stood still, and who is at fault could not be told: see Not told.");
  EXPECT_THAT(of("which rank holds up the others", "2"),
              HasSubstr("Rank 2 left no dump. The job stood still"));
  EXPECT_THAT(of("whether the job stood still", "2, 3"),
              HasSubstr("Ranks 2, 3 left no dump. Whether the job stood still"));
  const std::string whole =
      R"({"iterations": {"count": "0"},
          "coverage": {"signals": [{"name": "flight recorder", "state": "on"}]}})";
  EXPECT_THAT(NothingFound(Report(whole), 0, 0), HasSubstr("Nothing wrong"));
}

TEST(NothingFound, SaysWhenARecordingIsTooShort) {
  const std::string short_one =
      R"({"iterations": {"count": "3"},
          "abstained": [{"question": "whether the job became slower", "missing": "7"}]})";
  EXPECT_THAT(NothingFound(Report(short_one), 0, 0), HasSubstr("could not be told"));
}

TEST(NothingFound, TellsHowMuchIterationsVaryWhereThatHidesSomething) {
  const Json report = Report(R"({"iterations": {"count": "9"}})");
  EXPECT_THAT(NothingFound(report, 0.05, 0.09), HasSubstr("8 of 10 took 50.0 ms to 90.0 ms"));
  EXPECT_EQ(NothingFound(report, 0.05, 0.055), "Nothing wrong was found in these recordings.");
  EXPECT_EQ(NothingFound(report, 0, 0), "Nothing wrong was found in these recordings.");
}

}  // namespace
}  // namespace fathom::cli
