#include "collector/cli/run/verdict_narrator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

VerdictView Verdict(const std::string& grade, std::int64_t rank = 2) {
  VerdictView out;
  out.id = "v-1";
  out.grade = grade;
  out.cause = "host_slow";
  out.sentence = "Rank 2 comes late.";
  out.entity_type = "rank";
  out.ranks = {rank};
  out.slowdown = 2;
  return out;
}

TEST(VerdictNarratorTest, TellsAVerdictOnceAsACard) {
  VerdictNarrator narrator((Terminal()));
  EXPECT_THAT(narrator.OnVerdict(Verdict("supported")), StartsWith("fathom: Rank 2 comes late.\n"));
  VerdictView fresher = Verdict("supported");
  fresher.slowdown = 2.5;
  fresher.sentence = "Rank 2 comes later.";
  EXPECT_EQ(narrator.OnVerdict(fresher), "");
}

TEST(VerdictNarratorTest, TellsAnotherGradeInALine) {
  VerdictNarrator narrator((Terminal()));
  EXPECT_THAT(narrator.OnVerdict(Verdict("hypothesis")),
              StartsWith("fathom: a lead: Rank 2 comes late."));
  EXPECT_EQ(narrator.OnVerdict(Verdict("established")),
            "fathom: now established (was hypothesis): Rank 2 comes late.\n");
}

TEST(VerdictNarratorTest, AnotherCulpritOrCauseIsACorrection) {
  VerdictNarrator narrator((Terminal()));
  narrator.OnVerdict(Verdict("supported"));
  EXPECT_THAT(narrator.OnVerdict(Verdict("supported", 3)), StartsWith("fathom: corrected: "));
  VerdictView other = Verdict("supported", 3);
  other.cause = "gc";
  EXPECT_THAT(narrator.OnVerdict(other), StartsWith("fathom: corrected: "));
}

TEST(VerdictNarratorTest, TellsTheEndOnce) {
  VerdictNarrator narrator((Terminal()));
  narrator.OnVerdict(Verdict("supported"));
  VerdictView over = Verdict("supported");
  over.closed = true;
  over.closed_because = "recovered";
  EXPECT_EQ(narrator.OnVerdict(over), "fathom: closed (recovered): Rank 2 comes late.\n");
  EXPECT_EQ(narrator.OnVerdict(over), "");
}

TEST(VerdictNarratorTest, AVerdictThatIsOverWhenFirstHeardIsNotTold) {
  VerdictNarrator narrator((Terminal()));
  VerdictView over = Verdict("supported");
  over.closed = true;
  EXPECT_EQ(narrator.OnVerdict(over), "");
}

Json Report(const char* verdicts) {
  Json out = Json::parse(R"({"job":{"ranks":4},"iterations":{"count":"260","median_s":0.0412}})");
  out["verdicts"] = Json::parse(verdicts);
  return out;
}

TEST(VerdictNarratorTest, SummaryOfAHealthyJob) {
  EXPECT_EQ(VerdictNarrator(Terminal()).Summary(Report("[]")),
            "fathom: no culprit found in 260 iterations, median 41.2 ms\n");
}

TEST(VerdictNarratorTest, TheLastWordTellsWhatBoundsAnIterationAlsoWhenNothingIsWrong) {
  Json report = Report("[]");
  report["step"] = {{"sentence", "An iteration takes 41 ms: computing 97 %."},
                    {"advice", "Only less work would help."},
                    {"iterations", "64"},
                    {"ranks", 1},
                    {"missing", ""}};
  EXPECT_EQ(VerdictNarrator(Terminal()).Summary(report),
            "fathom: no culprit found in 260 iterations, median 41.2 ms\n"
            "fathom: An iteration takes 41 ms: computing 97 %. (Mean of 64 iterations of 1 rank.)\n"
            "fathom: Only less work would help.\n");
  report["step"] = {{"missing", "3 iterations or more; 2 are known"}};
  EXPECT_THAT(VerdictNarrator(Terminal()).Summary(report),
              HasSubstr("what bounds an iteration is not told: needs 3 iterations or more"));
}

TEST(VerdictNarratorTest, SilenceThatNobodyIsNamedForIsToldOnceAndAtTheEnd) {
  VerdictNarrator narrator((Terminal()));
  const std::chrono::steady_clock::time_point begin;
  const auto hear = [&](const char* state, int second) {
    return narrator.OnJob(Json{{"state", state}}, begin + std::chrono::seconds(second));
  };
  EXPECT_EQ(hear("stalled", 0), "");
  EXPECT_EQ(hear("stalled", 19), "");
  EXPECT_EQ(hear("running", 20), "");
  EXPECT_EQ(hear("stalled", 21), "") << "a new silence";
  EXPECT_THAT(hear("stalled", 42), HasSubstr("silent for 20 s longer"));
  EXPECT_EQ(hear("stalled", 90), "");
  EXPECT_EQ(hear("ended", 91), "");
  EXPECT_THAT(narrator.Summary(Report("[]")), HasSubstr("silent until the end"));
  EXPECT_EQ(hear("running", 92), "");
  EXPECT_THAT(narrator.Summary(Report("[]")), Not(HasSubstr("silent")));
}

TEST(VerdictNarratorTest, AHangThatIsNamedIsNoUnexplainedSilence) {
  VerdictNarrator narrator((Terminal()));
  for (int s = 0; s < 100; ++s) {
    EXPECT_EQ(narrator.OnJob(Json{{"state", "hung"}}, {}), "");
  }
  EXPECT_THAT(narrator.Summary(Report("[]")), Not(HasSubstr("silent")));
}

TEST(VerdictNarratorTest, SummaryNamesTheStrongestAndCountsTheOthers) {
  const std::string text =
      VerdictNarrator(Terminal())
          .Summary(Report(R"([{"id":"a","grade":"hypothesis","sentence":"Weak."},
                 {"id":"b","grade":"established","sentence":"Strong."}])"));
  EXPECT_THAT(text, StartsWith("fathom: verdict: Strong.\n"));
  EXPECT_THAT(text, HasSubstr("and 1 verdict more"));
  EXPECT_THAT(text, HasSubstr("260 iterations, median 41.2 ms"));
}

TEST(VerdictNarratorTest, SummaryDoesNotPromoteALead) {
  const std::string text =
      VerdictNarrator(Terminal())
          .Summary(Report(R"([{"id":"a","grade":"hypothesis","sentence":"Weak."}])"));
  EXPECT_THAT(text, HasSubstr("no culprit established"));
  EXPECT_THAT(text, HasSubstr("a lead: Weak."));
  EXPECT_THAT(text, Not(HasSubstr("verdict: ")));
}

TEST(VerdictNarratorTest, SummaryWithoutAReportUsesWhatWasHeard) {
  VerdictNarrator narrator((Terminal()));
  EXPECT_THAT(narrator.Summary(Json::object()), HasSubstr("no report came back"));
  narrator.OnVerdict(Verdict("established"));
  EXPECT_THAT(narrator.Summary(Json::object()), StartsWith("fathom: verdict: Rank 2 comes late."));
}

TEST(VerdictNarratorTest, SummarySaysWhenNothingWasTraced) {
  EXPECT_THAT(VerdictNarrator(Terminal()).Summary(Json{{"schema", "fathom.v1.Report"}}),
              HasSubstr("nothing was traced"));
}

}  // namespace
}  // namespace fathom::cli
