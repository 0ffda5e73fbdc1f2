// Plays every file in scenarios/ with several seeds and holds diagnosis to what the file expects.
#include <algorithm>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/live_session.h"
#include "tests/diagnosis/scenario.h"

namespace fathom::diagnosis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void CheckVerdict(const ExpectedVerdict& expected, const Verdict& verdict) {
  if (!expected.grade.empty()) {
    EXPECT_EQ(ToString(verdict.grade), expected.grade);
  }
  if (!expected.owner.empty()) {
    EXPECT_EQ(ToString(verdict.owner), expected.owner);
  }
  if (!expected.problem_class.empty()) {
    EXPECT_EQ(ToString(verdict.problem), expected.problem_class);
  }
  if (expected.victims) {
    std::vector<std::uint32_t> victims;
    for (RankId rank : verdict.victims) victims.push_back(rank.value);
    EXPECT_EQ(victims, *expected.victims);
  }
  if (expected.since) {
    EXPECT_LE(std::abs(verdict.since_iteration.value - *expected.since),
              expected.since_within.value_or(0));
  }
  for (const std::string& part : expected.says) EXPECT_THAT(verdict.sentence, HasSubstr(part));
  if (expected.slowdown_least) {
    EXPECT_GE(verdict.cost.slowdown, *expected.slowdown_least);
  }
  if (expected.slowdown_most) {
    EXPECT_LE(verdict.cost.slowdown, *expected.slowdown_most);
  }
  EXPECT_FALSE(verdict.evidence.empty());
  EXPECT_FALSE(verdict.would_change.empty());
  EXPECT_FALSE(verdict.action_text.empty());
  EXPECT_THAT(verdict.action_command, Not(HasSubstr("PID")));
}

void CheckOutcome(const Scenario& scenario, const LiveOutcome& outcome) {
  for (const Verdict& verdict : outcome.ever) {
    const bool expected =
        std::any_of(scenario.verdicts.begin(), scenario.verdicts.end(),
                    [&](const ExpectedVerdict& e) { return e.name == NameOf(verdict); });
    EXPECT_TRUE(expected) << "said of an innocent: " << verdict.sentence;
  }
  for (const ExpectedVerdict& expected : scenario.verdicts) {
    SCOPED_TRACE(expected.name);
    const auto it = std::find_if(outcome.ever.begin(), outcome.ever.end(),
                                 [&](const Verdict& v) { return NameOf(v) == expected.name; });
    ASSERT_NE(it, outcome.ever.end()) << "not said";
    CheckVerdict(expected, *it);
  }
  std::string missing;
  for (const Abstention& a : outcome.diagnosis.abstained) missing += a.missing + "; ";
  for (const std::string& part : scenario.abstained) EXPECT_THAT(missing, HasSubstr(part));
  if (scenario.slow) {
    EXPECT_EQ(outcome.suspicion.slow, *scenario.slow);
  }
  if (scenario.settled) {
    EXPECT_EQ(outcome.suspicion.settled, *scenario.settled);
  }
}

class ScenarioTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ScenarioTest, SaysWhatIsTrueAndNoMore) {
  const Scenario scenario = LoadScenario(GetParam());
  for (std::uint64_t i = 0; i < scenario.seeds; ++i) {
    JobSpec job = scenario.job;
    job.seed += i;
    SCOPED_TRACE("seed " + std::to_string(job.seed));
    CheckOutcome(scenario, Judge(scenario, ViewOf(scenario, job), DiagnosisConfig()));
  }
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path(info.param);
  return path.parent_path().filename().string() + "_" + path.stem().string();
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioTest, ::testing::ValuesIn(ScenarioFiles(FATHOM_SCENARIOS)),
                         TestName);

TEST(ScenarioFilesTest, EveryRuleHasItsCases) {
  EXPECT_GE(ScenarioFiles(FATHOM_SCENARIOS).size(), 25u);
}

}  // namespace
}  // namespace fathom::diagnosis::testing
