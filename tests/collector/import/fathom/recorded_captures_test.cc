#include "collector/import/fathom/recorded_captures.h"

#include <gtest/gtest.h>

#include <string>

#include "fathom/v1/agent.pb.h"
#include "tests/collector/captured_job.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

struct RecordedCapturesTest : testing::Test {
  static constexpr std::uint32_t kRanks = kCapturedRanks;

  void SetUp() override {
    const auto job = jobs.FindOrAdd("train");
    TellCapturedRanks(*job);
  }

  // Two sights in new data open it.
  void Open() {
    diagnosis::Verdict verdict;
    verdict.grade = diagnosis::Grade::kEstablished;
    verdict.cause = diagnosis::Cause::kHostSlow;
    verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
    verdict.entity.ranks = {RankId(2)};
    verdict.cost.slowdown = 2;
    verdict.sentence = "Rank 2 holds the job back.";
    for (int i = 0; i < 2; ++i) {
      diagnosis::Diagnosis seen;
      seen.verdicts = {verdict};
      diagnosis::Suspicion suspicion;
      suspicion.slow = true;
      clock.AdvanceSeconds(3);
      JobMoment now;
      now.job = "train";
      now.wall = clock.Wall();
      now.mono = clock.Mono();
      ledger.Update(now, suspicion, &seen);
    }
    ASSERT_EQ(ledger.Of("train").size(), 1u);
  }

  static v1::CaptureReply Reply(std::uint32_t rank, std::uint64_t request = 7) {
    return CaptureReplyOf(request, CapturedStacks(rank, rank == 2 ? 220 : 0));
  }
  void Tell(bool all = false) { captures.Tell(jobs, ledger, clock, all); }
  const diagnosis::Detail Known() { return ledger.Of("train").front().detail; }

  FakeClock clock;
  JobTable jobs{clock, {}};
  VerdictLedger ledger{[](VerdictChange, const Episode&) {}};
  RecordedCaptures captures;
};

TEST_F(RecordedCapturesTest, AreHeldAgainstTheOpenVerdictsOnceNoMoreAnswersCome) {
  Open();
  for (const std::uint32_t rank : {2u, 0u}) captures.Take(Reply(rank), clock);
  Tell();
  EXPECT_FALSE(Known().known()) << "others may still answer";
  clock.AdvanceSeconds(1);
  for (const std::uint32_t rank : {1u, 3u}) captures.Take(Reply(rank), clock);
  Tell();
  EXPECT_FALSE(Known().known());
  clock.AdvanceSeconds(2);
  Tell();
  EXPECT_EQ(Known().where.function, "write_metrics");
  EXPECT_EQ(Known().peers, 3u);
}

TEST_F(RecordedCapturesTest, AtTheEndTheLastOneCountsAsWhole) {
  Open();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) captures.Take(Reply(rank), clock);
  Tell(true);
  EXPECT_EQ(Known().where.function, "write_metrics");
}

TEST_F(RecordedCapturesTest, ANewerRequestTakesThePlaceOfOneThatWasNotWhole) {
  Open();
  captures.Take(Reply(2, 7), clock);
  captures.Take(Reply(0, 8), clock);
  captures.Take(Reply(1, 8), clock);
  Tell(true);
  EXPECT_FALSE(Known().known());
  EXPECT_FALSE(Known().missing.empty()) << "the rank itself did not answer";
}

TEST_F(RecordedCapturesTest, OfAJobThatNobodyKnowsOrWithoutVerdictsChangesNothing) {
  v1::CaptureReply other = Reply(0);
  other.set_job("unknown");
  captures.Take(other, clock);
  captures.Take(Reply(2), clock);
  Tell(true);
  EXPECT_TRUE(ledger.Of("train").empty());
}

}  // namespace
}  // namespace fathom::collector
