// Verdicts on what comes and goes, or was always so: what a later look may not change.
#include <gtest/gtest.h>

#include "collector/verdict/job_verdicts.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

using diagnosis::Grade;

diagnosis::Verdict Slow(std::uint32_t rank, Grade grade = Grade::kSupported) {
  diagnosis::Verdict verdict;
  verdict.grade = grade;
  verdict.cause = diagnosis::Cause::kHostSlow;
  verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
  verdict.entity.ranks = {RankId(rank)};
  verdict.sentence = "rank " + std::to_string(rank);
  verdict.since_iteration = Iteration(100);
  return verdict;
}

struct ComesAndGoesTest : testing::Test {
  FakeClock clock;
  JobVerdicts verdicts;
  diagnosis::Suspicion suspicion;

  JobMoment Now() { return {"train", WallNs(5), Iteration(120), clock.Wall(), clock.Mono()}; }
  void SetUp() override { suspicion.slow = true; }
  void Diagnose(std::vector<diagnosis::Verdict> seen) {
    diagnosis::Diagnosis diagnosis;
    diagnosis.verdicts = std::move(seen);
    clock.AdvanceSeconds(0.5);
    verdicts.Update(Now(), suspicion, &diagnosis);
  }
  Changes Quiet(double seconds) {
    clock.AdvanceSeconds(seconds);
    return verdicts.Update(Now(), suspicion, nullptr);
  }
};

// Every tenth iteration of 100 ms: it is over when it was due four times and did not come.
TEST_F(ComesAndGoesTest, WhatComesInEveryTenthIterationIsGivenTimeToComeBack) {
  diagnosis::Verdict verdict = Slow(2);
  verdict.every = 10;
  suspicion.slow = false;
  suspicion.differs = suspicion.settled = true;
  suspicion.expected = Nanos(100'000'000);
  Diagnose({verdict});
  Diagnose({verdict});
  ASSERT_TRUE(verdicts.HasOpen());
  EXPECT_TRUE(Quiet(3.5).empty());
  EXPECT_EQ(Quiet(1).size(), 1u);
}

TEST_F(ComesAndGoesTest, WhatWasSoBeforeGetsNoOnsetFromAPastThatHoldsIt) {
  diagnosis::Verdict by_peers = Slow(2);
  by_peers.every = 4;
  by_peers.from_start = true;
  by_peers.since_iteration = Iteration(0);
  by_peers.sentence = "in every 4th iteration, since the job began";
  by_peers.cost.slowdown = 1.4;
  Diagnose({by_peers});
  Diagnose({by_peers});
  diagnosis::Verdict by_past = Slow(2, Grade::kEstablished);
  by_past.cost.slowdown = 1.5;
  for (int i = 0; i < 10; ++i) Diagnose({by_past});
  const Episode kept = verdicts.Episodes().front();
  EXPECT_EQ(kept.verdict.sentence, by_peers.sentence);
  EXPECT_EQ(kept.verdict.every, 4);
  EXPECT_EQ(kept.verdict.grade, Grade::kEstablished);
  by_past.cost.slowdown = 2.5;
  for (int i = 0; i < 10; ++i) Diagnose({by_past});
  EXPECT_EQ(verdicts.Episodes().front().verdict.sentence, by_past.sentence) << "it became worse";
}

TEST_F(ComesAndGoesTest, WhoseCauseIsKnownIsNotNamedAgainWithoutOne) {
  Diagnose({Slow(2, Grade::kEstablished)});
  Diagnose({Slow(2, Grade::kEstablished)});
  diagnosis::Verdict unknown = Slow(2);
  unknown.cause = diagnosis::Cause::kUnknown;
  for (int i = 0; i < 40; ++i) Diagnose({unknown});
  ASSERT_EQ(verdicts.Episodes().size(), 1u) << "an agent that was restarted knows no cause yet";
  EXPECT_TRUE(verdicts.Episodes()[0].open()) << "and it is the same trouble";
  unknown.entity.ranks = {RankId(3)};
  Diagnose({unknown});
  Diagnose({unknown});
  EXPECT_EQ(verdicts.Episodes().size(), 2u) << "another rank is another matter";
}

}  // namespace
}  // namespace fathom::collector
