// A verdict whose node was probed: its grade, for as long as it stands, and after it closed.
#include "collector/verdict/probe_proof.h"

#include <gtest/gtest.h>

#include "collector/export/verdict_proto.h"
#include "collector/verdict/job_verdicts.h"
#include "fathom/v1/report.pb.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

using diagnosis::Grade;

struct ProbeProofTest : testing::Test {
  static diagnosis::Verdict Slow() {
    diagnosis::Verdict verdict;
    verdict.grade = Grade::kEstablished;
    verdict.cause = diagnosis::Cause::kComputeSlow;
    verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
    verdict.entity.ranks = {RankId(2)};
    verdict.entity.node = "n0";
    verdict.since_iteration = Iteration(100);
    return verdict;
  }

  void SetUp() override {
    suspicion.slow = true;
    Diagnose();
    Diagnose();
    ASSERT_TRUE(verdicts.HasOpen());
  }

  JobMoment Now() {
    JobMoment now;
    now.job = "train";
    now.iteration = Iteration(120);
    now.wall = clock.Wall();
    now.mono = clock.Mono();
    return now;
  }
  Changes Diagnose() {
    diagnosis::Diagnosis seen;
    seen.verdicts = {Slow()};
    clock.AdvanceSeconds(3);
    return verdicts.Update(Now(), suspicion, &seen);
  }
  Changes Prove(const std::string& state) {
    const ProbeProof proof{
        .state = state, .sentence = "A probe.", .request_id = 7, .at = clock.Wall()};
    return verdicts.Prove([&](const Episode&) { return proof; }, clock.Wall(), clock.Mono());
  }
  Episode Only() const { return verdicts.Episodes().at(0); }

  FakeClock clock;
  JobVerdicts verdicts;
  diagnosis::Suspicion suspicion;
};

TEST_F(ProbeProofTest, RefutedItIsWorthAGradeLessAndStaysSo) {
  const Changes told = Prove("refuted");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, VerdictChange::kUpdated);
  EXPECT_EQ(Only().verdict.grade, Grade::kSupported);
  for (int i = 0; i < 10; ++i) Diagnose();
  EXPECT_EQ(Only().verdict.grade, Grade::kSupported);
  EXPECT_EQ(Only().verdict.counter_evidence.size(), 1u);
}

TEST_F(ProbeProofTest, ConfirmedItKeepsItsGradeAndSaysSo) {
  Prove("confirmed");
  for (int i = 0; i < 3; ++i) Diagnose();
  EXPECT_EQ(Only().verdict.grade, Grade::kEstablished);
  ASSERT_EQ(Only().verdict.evidence.size(), 1u);
  EXPECT_EQ(Only().verdict.evidence[0].statement, "A probe.");
}

TEST_F(ProbeProofTest, TheSameAgainTellsNothingNew) {
  EXPECT_EQ(Prove("refuted").size(), 1u);
  EXPECT_TRUE(Prove("refuted").empty());
  EXPECT_TRUE(Prove("").empty());
}

TEST_F(ProbeProofTest, AVerdictThatIsOverIsToldTooAndStaysClosed) {
  verdicts.CloseAll(Now(), "the job ended");
  const Changes told = Prove("confirmed");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_FALSE(told[0].second.open());
  EXPECT_EQ(told[0].second.proof.state, "confirmed");
  EXPECT_FALSE(verdicts.HasOpen());
}

TEST_F(ProbeProofTest, ItComesBackFromTheStoreAsItWas) {
  Prove("refuted");
  v1::Verdict kept;
  ToProto(Only(), kept);
  const Episode again = FromProto(kept);
  EXPECT_EQ(again.proof.state, "refuted");
  EXPECT_EQ(again.proof.sentence, "A probe.");
  EXPECT_EQ(again.proof.request_id, 7u);
  EXPECT_EQ(again.proof.at, Only().proof.at);
}

}  // namespace
}  // namespace fathom::collector
