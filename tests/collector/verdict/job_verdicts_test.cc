#include "collector/verdict/job_verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

using diagnosis::Cause;
using diagnosis::Grade;

diagnosis::Verdict Slow(std::uint32_t rank, Grade grade = Grade::kSupported,
                        Cause cause = Cause::kHostSlow) {
  diagnosis::Verdict verdict;
  verdict.grade = grade;
  verdict.cause = cause;
  verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
  verdict.entity.ranks = {RankId(rank)};
  verdict.sentence = "rank " + std::to_string(rank);
  verdict.since_iteration = Iteration(100);
  return verdict;
}

constexpr char kStored[] = "v123456789abc";

struct JobVerdictsTest : testing::Test {
  FakeClock clock;
  JobVerdicts verdicts;
  diagnosis::Suspicion suspicion;
  Changes all;

  std::map<RankId, std::string> out_of_sight;

  bool repeated = false, recalled = false, authenticated = true;

  JobMoment Now() {
    return {"train",  WallNs(5),    Iteration(120), clock.Wall(), clock.Mono(),
            repeated, out_of_sight, recalled,       authenticated};
  }
  void SetUp() override { suspicion.slow = true; }
  Changes Diagnose(std::vector<diagnosis::Verdict> seen) {
    diagnosis::Diagnosis diagnosis;
    diagnosis.verdicts = std::move(seen);
    clock.AdvanceSeconds(0.5);
    return Keep(verdicts.Update(Now(), suspicion, &diagnosis));
  }
  Changes Quiet(double seconds) {
    clock.AdvanceSeconds(seconds);
    return Keep(verdicts.Update(Now(), suspicion, nullptr));
  }
  Changes Keep(Changes changes) {
    all.insert(all.end(), changes.begin(), changes.end());
    return changes;
  }
  // What an earlier collector had left open, on rank 2.
  void AdoptStored() {
    Episode stored;
    stored.id = kStored;
    stored.job = "train";
    stored.verdict = Slow(2);
    verdicts.Adopt(stored);
  }
  Episode Opened(std::uint32_t rank, Grade grade = Grade::kSupported) {
    Diagnose({Slow(rank, grade)});
    const auto changes = Diagnose({Slow(rank, grade)});
    EXPECT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].first, VerdictChange::kOpened);
    return changes[0].second;
  }
};

diagnosis::Diagnosis LastWords(std::vector<diagnosis::Verdict> verdicts) {
  diagnosis::Diagnosis diagnosis;
  diagnosis.verdicts = std::move(verdicts);
  return diagnosis;
}

TEST_F(JobVerdictsTest, AJobThatDiesWithinOneLookKeepsItsVerdict) {
  const auto death = Slow(2, Grade::kEstablished, Cause::kProcessDead);
  const auto changes = verdicts.Conclude(Now(), LastWords({death, Slow(1)}));
  ASSERT_EQ(changes.size(), 2u) << "slowness had its time to be seen twice";
  EXPECT_EQ(changes[0].first, VerdictChange::kOpened);
  EXPECT_EQ(changes[1].second.closed_because, "the job ended");
  EXPECT_EQ(changes[1].second.verdict.cause, Cause::kProcessDead);
}

TEST_F(JobVerdictsTest, SaysWhenItWasSeenLastAndWhetherByKnownAgentsOnly) {
  Opened(1);
  clock.AdvanceSeconds(10);
  Diagnose({Slow(1)});
  EXPECT_EQ(verdicts.Episodes()[0].seen, clock.Wall());
  EXPECT_TRUE(verdicts.Episodes()[0].authenticated);
  const WallNs seen = clock.Wall();
  repeated = true;  // the same data again confirm nothing
  Diagnose({Slow(1)});
  repeated = false;
  Quiet(1);
  EXPECT_EQ(verdicts.Episodes()[0].seen, seen);
  authenticated = false;
  Diagnose({Slow(1)});
  authenticated = true;
  Diagnose({Slow(1)});
  EXPECT_FALSE(verdicts.Episodes()[0].authenticated);
}

TEST_F(JobVerdictsTest, AGpuThatIsToldLaterIsNoOtherCulprit) {
  const Episode opened = Opened(2, Grade::kEstablished);
  auto named = Slow(2, Grade::kEstablished);
  named.entity.gpu = "0000:1B:00.0";
  clock.AdvanceSeconds(JobVerdicts::kUpdateGap.Seconds());
  const auto changes = Diagnose({named});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].first, VerdictChange::kUpdated);
  EXPECT_EQ(changes[0].second.id, opened.id);
  EXPECT_EQ(changes[0].second.verdict.entity.gpu, "0000:1B:00.0");
}

TEST_F(JobVerdictsTest, AHangThatEndsSaysHowLongItLasted) {
  auto hung = Slow(2, Grade::kSupported, Cause::kNonCommunicationHang);
  hung.problem = diagnosis::ProblemClass::kNonCommunicationHang;
  hung.since_time = clock.Wall() - Nanos::FromSeconds(30);
  Diagnose({hung});
  Diagnose({hung});
  suspicion.slow = false;
  const auto changes = Quiet(5);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.closed_because, "recovered after 36 s");
}

TEST_F(JobVerdictsTest, HowAHungJobWasEndedIsNoNews) {
  auto hung = Slow(2, Grade::kSupported, Cause::kNonCommunicationHang);
  hung.problem = diagnosis::ProblemClass::kNonCommunicationHang;
  Diagnose({hung});
  Diagnose({hung});
  const auto changes =
      verdicts.Conclude(Now(), LastWords({Slow(0, Grade::kEstablished, Cause::kProcessDead)}));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.verdict.entity.ranks, std::vector<RankId>{RankId(2)});
}

TEST_F(JobVerdictsTest, OpensAfterTwoDiagnosesInARow) {
  EXPECT_TRUE(Diagnose({Slow(2)}).empty());
  EXPECT_TRUE(Diagnose({}).empty());
  EXPECT_TRUE(Diagnose({Slow(2)}).empty()) << "not in a row";
  const auto changes = Diagnose({Slow(2)});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.id.size(), 13u);
  EXPECT_TRUE(verdicts.HasOpen());
}

TEST_F(JobVerdictsTest, TheSameDataTwiceOpensNothing) {
  repeated = true;
  EXPECT_TRUE(Diagnose({Slow(2)}).empty());
  EXPECT_TRUE(Diagnose({Slow(2)}).empty());
  repeated = false;
  EXPECT_EQ(Diagnose({Slow(2)}).size(), 1u);
}

TEST_F(JobVerdictsTest, TheSameDataAgainSpeaksAgainstNothing) {
  Opened(2, Grade::kEstablished);
  EXPECT_TRUE(Diagnose({}).empty());
  repeated = true;
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(Diagnose({}).empty()) << "one photograph, 20 s long";
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(Diagnose({Slow(2, Grade::kSupported)}).empty());
  repeated = false;
  for (int i = 0; i < 3; ++i) Diagnose({});
  EXPECT_TRUE(verdicts.HasOpen());
}

TEST_F(JobVerdictsTest, AHangIsConfirmedByTheSameDataAndASlowRankBesideItIsNot) {
  repeated = true;
  diagnosis::Verdict hang = Slow(3);
  hang.problem = diagnosis::ProblemClass::kNonCommunicationHang;
  suspicion.stalled = true;
  EXPECT_TRUE(Diagnose({hang, Slow(2)}).empty());
  const auto changes = Diagnose({hang, Slow(2)});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.verdict.entity.ranks, std::vector<RankId>{RankId(3)});
}

TEST_F(JobVerdictsTest, WhatWasForeseenOpensWhenItIsSeen) {
  verdicts.Foresee(LastWords({Slow(2)}));
  EXPECT_EQ(Diagnose({Slow(2)}).size(), 1u);
  verdicts.Foresee(LastWords({Slow(2), Slow(3)}));
  EXPECT_TRUE(Diagnose({Slow(2)}).empty()) << "open already";
  EXPECT_TRUE(Diagnose({Slow(3)}).empty()) << "not in a row";
  verdicts.Foresee(LastWords({Slow(4)}));
  Quiet(0.5);
  EXPECT_TRUE(Diagnose({Slow(4)}).empty()) << "the job was well in between";
}

TEST_F(JobVerdictsTest, TheSameEpisodeHasTheSameIdAndAnotherOnsetAnother) {
  const std::string id = Opened(2).id;
  JobVerdicts other;
  std::swap(other, verdicts);
  EXPECT_EQ(Opened(2).id, id);
  JobVerdicts third;
  std::swap(third, verdicts);
  auto later = Slow(2);
  later.since_iteration = Iteration(101);
  Diagnose({later});
  EXPECT_NE(Diagnose({later})[0].second.id, id);
}

TEST_F(JobVerdictsTest, AnUnchangedVerdictIsNotToldAgain) {
  Opened(2);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Diagnose({Slow(2)}).empty());
}

TEST_F(JobVerdictsTest, GradesRiseAtOnceAndFallSlowly) {
  Opened(2);
  auto changes = Diagnose({Slow(2, Grade::kEstablished)});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.verdict.grade, Grade::kEstablished);
  for (int i = 1; i < JobVerdicts::kFallAfter; ++i) EXPECT_TRUE(Diagnose({Slow(2)}).empty());
  changes = Diagnose({Slow(2)});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.verdict.grade, Grade::kSupported);
}

TEST_F(JobVerdictsTest, UpdatesKeepTheOnsetAndAreRare) {
  Opened(2);
  int updates = 0;
  for (int i = 0; i < 20; ++i) {  // ten seconds
    auto verdict = Slow(2);
    verdict.cost.gpu_hours = 1.0 + i;
    verdict.since_iteration = Iteration(100 + i);
    for (const auto& [change, episode] : Diagnose({verdict})) {
      ++updates;
      EXPECT_EQ(episode.verdict.since_iteration, Iteration(100));
    }
  }
  EXPECT_GE(updates, 4);
  EXPECT_LE(updates, 5);
}

TEST_F(JobVerdictsTest, ASentenceNamesTheOnsetThatIsKept) {
  Opened(2);
  auto verdict = Slow(2, Grade::kEstablished);
  verdict.since_iteration = Iteration(130);
  verdict.sentence = "Rank 2 holds the job back since iteration 130: 3 ms more.";
  const auto changes = Diagnose({verdict});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.verdict.sentence,
            "Rank 2 holds the job back since iteration 100: 3 ms more.");
}

TEST_F(JobVerdictsTest, AnEpisodeDatedLaterDatesItsVerdict) {
  const std::string id = Opened(2).id;
  suspicion.onset = Iteration(130);
  auto verdict = Slow(2, Grade::kEstablished);
  verdict.since_iteration = Iteration(130);
  verdict.since_time = WallNs(7);
  const auto changes = Diagnose({verdict});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.id, id);
  EXPECT_EQ(changes[0].second.verdict.since_iteration, Iteration(130));
  EXPECT_EQ(changes[0].second.verdict.since_time, WallNs(7));
}

TEST_F(JobVerdictsTest, WhatWasLostStaysLost) {
  auto dear = Slow(2);
  dear.cost.gpu_hours = 7;
  Diagnose({dear});
  Diagnose({dear});
  auto cheap = Slow(2, Grade::kEstablished);
  cheap.cost.gpu_hours = 3;
  EXPECT_EQ(Diagnose({cheap})[0].second.verdict.cost.gpu_hours, 7);
}

TEST_F(JobVerdictsTest, AnEstablishedVerdictIsNeverSilentlyReplaced) {
  const std::string old_id = Opened(2, Grade::kEstablished).id;
  all.clear();
  for (int i = 0; i < 10; ++i) Diagnose({Slow(3, Grade::kEstablished)});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].first, VerdictChange::kOpened);
  EXPECT_EQ(all[1].first, VerdictChange::kClosed);
  EXPECT_EQ(all[1].second.id, old_id);
  EXPECT_TRUE(all[1].second.superseded);
  EXPECT_EQ(all[1].second.closed_because, "superseded by " + all[0].second.id);
  EXPECT_EQ(all[1].second.until_iteration, Iteration(120));
}

TEST_F(JobVerdictsTest, AHangThatTurnsIntoSlownessIsOverNotReplaced) {
  suspicion = {};
  suspicion.stalled = true;
  auto hang = Slow(2, Grade::kEstablished, Cause::kProcessStopped);
  hang.problem = diagnosis::ProblemClass::kNonCommunicationHang;
  Diagnose({hang});
  Diagnose({hang});
  suspicion = {};
  suspicion.slow = true;
  all.clear();
  for (int i = 0; i < 10; ++i) Diagnose({Slow(2)});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].first, VerdictChange::kOpened);
  EXPECT_EQ(all[1].second.closed_because, "recovered");
  EXPECT_FALSE(all[1].second.superseded) << "the report keeps it";
}

TEST_F(JobVerdictsTest, ABlinkDoesNotCloseIt) {
  Opened(2);
  Diagnose({});
  Diagnose({});
  EXPECT_TRUE(Diagnose({Slow(2)}).empty());
  for (int i = 0; i < 15; ++i) EXPECT_TRUE(Diagnose({}).empty());  // 7.5 s, and nobody else
  EXPECT_TRUE(verdicts.HasOpen());
}

TEST_F(JobVerdictsTest, NoLongerSupportedClosesIt) {
  Opened(2);
  all.clear();
  for (int i = 0; i < 25; ++i) Diagnose({});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].second.closed_because, "no longer supported");
  EXPECT_FALSE(all[0].second.superseded);
}

diagnosis::Verdict Hung(std::uint32_t rank) {
  auto verdict = Slow(rank, Grade::kSupported, Cause::kNonCommunicationHang);
  verdict.problem = diagnosis::ProblemClass::kNonCommunicationHang;
  return verdict;
}

TEST_F(JobVerdictsTest, ARiseThatIsOverHasRecoveredThoughTheEpisodeGoesOn) {
  suspicion.onset = Iteration(40);
  suspicion.rise.resize(1);
  suspicion.rise[0].onset = Iteration(100);
  Opened(2);
  suspicion.rise.clear();
  Changes closed;
  for (int i = 0; i < 8 && closed.empty(); ++i) closed = Diagnose({});
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_EQ(closed[0].first, VerdictChange::kClosed);
  EXPECT_EQ(closed[0].second.closed_because, "recovered");
}

TEST_F(JobVerdictsTest, AHangWhoseCulpritGoesOutOfSightStaysUntilItsJobMovesOrItIsSeenOtherwise) {
  suspicion = {};
  suspicion.stalled = true;
  Diagnose({Hung(2)});
  Diagnose({Hung(2)});
  out_of_sight = {{RankId(2), "n1"}, {RankId(3), "n1"}};
  all.clear();
  for (int i = 0; i < 60; ++i) Diagnose({});
  ASSERT_EQ(all.size(), 1u) << "said once";
  EXPECT_EQ(all[0].first, VerdictChange::kUpdated);
  const auto& doubt = all[0].second.verdict.counter_evidence;
  ASSERT_EQ(doubt.size(), 1u);
  EXPECT_EQ(doubt[0].statement, "The agent of n1 is out of reach: this is what was known last.");
  out_of_sight.clear();
  ASSERT_EQ(Diagnose({Hung(2)}).size(), 1u) << "seen again, and no doubt any more";
  EXPECT_TRUE(all.back().second.verdict.counter_evidence.empty());
  for (int i = 0; i < 25; ++i) Diagnose({});
  EXPECT_EQ(all.back().second.closed_because, "no longer supported");
}

TEST_F(JobVerdictsTest, ALeadOnTheNodeReplacesNoConvictionOfARankOutOfSight) {
  suspicion = {};
  suspicion.stalled = true;
  for (int i = 0; i < 2; ++i) Diagnose({Hung(2)});
  out_of_sight = {{RankId(2), "n1"}};
  diagnosis::Verdict node = Hung(3);
  node.grade = diagnosis::Grade::kHypothesis;
  node.entity.type = diagnosis::EntityType::kHost;
  all.clear();
  for (int i = 0; i < 60; ++i) Diagnose({node});
  for (const auto& [change, episode] : all) EXPECT_NE(change, VerdictChange::kClosed);
  for (int i = 0; i < 60; ++i) Diagnose({Hung(1)});
  const auto closed = std::find_if(all.begin(), all.end(), [](const auto& event) {
    return event.first == VerdictChange::kClosed &&
           event.second.verdict.entity.ranks.front() == RankId(2);
  });
  ASSERT_NE(closed, all.end()) << "a conviction explains it better";
}

TEST_F(JobVerdictsTest, OutOfSightKeepsNeitherSlownessNorAHangOfOthersNorOneThatIsOver) {
  suspicion.stalled = true;
  out_of_sight = {{RankId(2), "n1"}};
  for (int i = 0; i < 2; ++i) Diagnose({Slow(2), Hung(1), Hung(2)});
  all.clear();
  for (int i = 0; i < 30; ++i) Diagnose({});
  ASSERT_EQ(all.size(), 3u);  // two closed, one says what it does not know
  EXPECT_TRUE(verdicts.HasOpen());
  suspicion.stalled = false;
  Diagnose({});
  EXPECT_FALSE(verdicts.HasOpen());
  EXPECT_EQ(all.back().second.closed_because, "recovered");
}

TEST_F(JobVerdictsTest, ASettledJobClosesItAsRecovered) {
  Opened(2);
  suspicion.settled = true;
  EXPECT_TRUE(Quiet(1).empty());
  const auto changes = Quiet(1.5);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.closed_because, "recovered");
  EXPECT_TRUE(changes[0].second.closed.known());
}

TEST_F(JobVerdictsTest, WithoutBeingSettledItTakesLonger) {
  Opened(2);
  EXPECT_TRUE(Quiet(3).empty());
  EXPECT_EQ(Quiet(2.5).size(), 1u);
}

TEST_F(JobVerdictsTest, TheSameTroubleAgainReopensTheEpisode) {
  const auto first = Opened(2);
  suspicion.settled = true;
  Quiet(6);
  EXPECT_FALSE(verdicts.HasOpen());
  const auto again = Opened(2);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.opened, first.opened);
  EXPECT_TRUE(again.open());
  EXPECT_EQ(verdicts.Episodes().size(), 1u);
}

TEST_F(JobVerdictsTest, AdoptedOnesAreKeptForAWhileAndThenSaidToBeUnconfirmed) {
  AdoptStored();
  EXPECT_TRUE(Quiet(0).empty());
  EXPECT_TRUE(Quiet(30).empty());
  const auto changes = Quiet(31);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.closed_because, "not seen again after the collector restarted");
}

TEST_F(JobVerdictsTest, AnAdoptedOneStandsWhileTheJobIsSlowByWhatWasUsualThen) {
  AdoptStored();
  recalled = true;
  for (int i = 0; i < 200; ++i) Diagnose({});
  ASSERT_TRUE(verdicts.HasOpen());
  ASSERT_EQ(all.size(), 1u) << "it is said once";
  EXPECT_NE(all[0].second.verdict.counter_evidence.back().statement.find("restarted"),
            std::string::npos);
  suspicion.slow = false;
  EXPECT_TRUE(Quiet(1).empty()) << "not regular long enough to tell";
  suspicion.settled = true;
  EXPECT_EQ(Quiet(2).at(0).second.closed_because, "recovered");
}

TEST_F(JobVerdictsTest, AnAdoptedOneGivesWayToWhatIsSeenNow) {
  AdoptStored();
  recalled = true;
  for (int i = 0; i < 20; ++i) Diagnose({Slow(3)});
  ASSERT_EQ(verdicts.Episodes().size(), 2u);
  EXPECT_EQ(verdicts.Episodes()[1].id, kStored);
  EXPECT_EQ(verdicts.Episodes()[1].closed_because.find("superseded by"), 0u);
}

TEST_F(JobVerdictsTest, AnAdoptedOneThatIsSeenAgainGoesOnUnderItsId) {
  AdoptStored();
  const auto changes = Diagnose({Slow(2, Grade::kEstablished)});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].first, VerdictChange::kUpdated);
  EXPECT_EQ(changes[0].second.id, kStored);
}

TEST_F(JobVerdictsTest, StrongestFirstThenTheClosed) {
  Opened(2);
  Diagnose({Slow(2), Slow(3, Grade::kEstablished)});
  Diagnose({Slow(2), Slow(3, Grade::kEstablished)});
  auto list = verdicts.Episodes();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].verdict.entity.ranks[0], RankId(3));
  verdicts.CloseAll(Now(), "the job ended");
  EXPECT_EQ(verdicts.Episodes().size(), 2u);
  EXPECT_FALSE(verdicts.HasOpen());
}

}  // namespace
}  // namespace fathom::collector
