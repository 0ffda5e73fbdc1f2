#include "collector/evaluate/capture_trigger.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fathom/v1/agent.pb.h"
#include "fathom/v1/capture.pb.h"
#include "tests/collector/captured_job.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

struct CaptureTriggerTest : testing::Test {
  static constexpr std::uint32_t kRanks = kCapturedRanks;

  void SetUp() override {
    registry.Connect(1, HelloFrom("n0").hello(), channel);
    TellCapturedRanks(job);
  }

  static diagnosis::Verdict Slow(diagnosis::Cause cause = diagnosis::Cause::kHostSlow) {
    diagnosis::Verdict verdict;
    verdict.grade = diagnosis::Grade::kEstablished;
    verdict.cause = cause;
    verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
    verdict.entity.ranks = {RankId(2)};
    verdict.cost.slowdown = 2;
    verdict.sentence = "Rank 2 holds the job back: 97 ms more " +
                       std::string("host time (not computing, not waiting for others) in each.");
    return verdict;
  }

  JobMoment Now() const {
    JobMoment now;
    now.job = "train";
    now.wall = clock.Wall();
    now.mono = clock.Mono();
    return now;
  }
  // Two sights in new data open it.
  void Sight(const diagnosis::Verdict& verdict) {
    diagnosis::Diagnosis seen;
    seen.verdicts = {verdict};
    diagnosis::Suspicion suspicion;
    suspicion.slow = true;
    clock.AdvanceSeconds(3);
    ledger.Update(Now(), suspicion, &seen);
  }
  void Open(const diagnosis::Verdict& verdict) {
    Sight(verdict);
    Sight(verdict);
    ASSERT_EQ(ledger.Of("train").size(), 1u);
  }

  Rejection Answer(const v1::RankCapture& capture, const std::string& node = "n0") {
    return captures.OnReply(node, CaptureReplyOf(channel->sent.back().request_id(), capture));
  }
  void AnswerAll() {
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      EXPECT_EQ(Answer(CapturedStacks(r, r == 2 ? 220 : 0)), std::nullopt);
    }
  }

  FakeClock clock;
  SessionRegistry registry{clock};
  JobState job{"train", clock};
  std::shared_ptr<CaptureChannel> channel = std::make_shared<CaptureChannel>();
  CaptureRequests captures{registry, clock};
  std::vector<std::pair<VerdictChange, Episode>> told;
  VerdictLedger ledger{
      [this](VerdictChange change, const Episode& episode) { told.emplace_back(change, episode); }};
  std::vector<std::string> said;
  CaptureSettings settings;
  std::unique_ptr<CaptureTrigger> made;
  CaptureTrigger& trigger() {
    if (made == nullptr) {
      made = std::make_unique<CaptureTrigger>(
          settings,
          CaptureParts{captures, ledger, [this](const std::string& line) { said.push_back(line); },
                       [](std::string_view) { return true; }, clock});
    }
    return *made;
  }
};

TEST_F(CaptureTriggerTest, AsksForTheAccusedAndItsPeersAndTellsTheFunction) {
  Open(Slow());
  trigger().Looked(job);
  ASSERT_EQ(channel->sent.size(), 1u);
  EXPECT_EQ(channel->sent[0].ranks_size(), 4);
  EXPECT_EQ(channel->sent[0].seconds(), 4);
  trigger().Looked(job);  // it is under way
  EXPECT_EQ(channel->sent.size(), 1u);
  AnswerAll();
  trigger().Looked(job);
  const Episode episode = ledger.Of("train").front();
  EXPECT_EQ(episode.detail.where.function, "write_metrics");
  EXPECT_EQ(episode.detail.where.line, 85u);
  EXPECT_NE(episode.verdict.sentence.find("97 ms more in write_metrics (train.py:85)"),
            std::string::npos);
  EXPECT_EQ(told.back().first, VerdictChange::kUpdated);
  EXPECT_EQ(trigger().counts().named, 1u);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("asked for"), std::string::npos);
  // It is known now: no further capture.
  clock.AdvanceSeconds(60);
  trigger().Looked(job);
  EXPECT_EQ(channel->sent.size(), 1u);
}

TEST_F(CaptureTriggerTest, WhatIsKnownStaysInLaterWordsAndWhenItCloses) {
  Open(Slow());
  trigger().Looked(job);
  AnswerAll();
  trigger().Looked(job);
  diagnosis::Verdict later = Slow();
  later.cost.slowdown = 3;
  const std::size_t before = told.size();
  Sight(later);
  EXPECT_EQ(ledger.Of("train").front().verdict.cost.slowdown, 3);
  EXPECT_NE(ledger.Of("train").front().verdict.sentence.find("write_metrics"), std::string::npos);
  EXPECT_EQ(told.size(), before + 1);
  Sight(later);  // the same again is no news, though the plain sentence lacks the function
  EXPECT_EQ(told.size(), before + 1);
  ledger.CloseAll(Now(), "the job ended");
  EXPECT_NE(told.back().second.verdict.sentence.find("write_metrics"), std::string::npos);
  EXPECT_TRUE(told.back().second.detail.known());
}

TEST_F(CaptureTriggerTest, AsksForNothingWhereNothingIsOpenOrItIsOff) {
  trigger().Looked(job);
  EXPECT_TRUE(channel->sent.empty());
  Open(Slow(diagnosis::Cause::kLinkSlow));
  trigger().Looked(job);
  EXPECT_TRUE(channel->sent.empty());
}

TEST_F(CaptureTriggerTest, OffMeansOff) {
  settings.mode = "off";
  Open(Slow());
  trigger().Looked(job);
  EXPECT_TRUE(channel->sent.empty());
}

TEST_F(CaptureTriggerTest, TriesAgainLaterAndNotForEver) {
  Open(Slow());
  for (int i = 0; i < 10; ++i) {
    trigger().Looked(job);
    if (captures.UnderWay("train")) {
      for (std::uint32_t r = 0; r < kRanks; ++r) Answer(CapturedStacks(r, 0));
    }
    trigger().Looked(job);
    clock.AdvanceSeconds(21);
    Sight(Slow());
  }
  EXPECT_EQ(channel->sent.size(), static_cast<std::size_t>(CaptureTrigger::kTries));
  EXPECT_FALSE(ledger.Of("train").front().detail.known());
  EXPECT_FALSE(ledger.Of("train").front().detail.missing.empty());
}

TEST_F(CaptureTriggerTest, CapturesOfAnHourAreLimitedAndItIsSaidOnce) {
  settings.per_hour = 1;
  Open(Slow());
  trigger().Looked(job);
  for (std::uint32_t r = 0; r < kRanks; ++r) Answer(CapturedStacks(r, 0));
  clock.AdvanceSeconds(21);
  trigger().Looked(job);
  trigger().Looked(job);
  EXPECT_EQ(channel->sent.size(), 1u);
  EXPECT_EQ(trigger().counts().limited, 1u);
}

TEST_F(CaptureTriggerTest, AnAnswerCountsOnceAndFromTheNodeThatWasAsked) {
  Open(Slow());
  trigger().Looked(job);
  EXPECT_EQ(Answer(CapturedStacks(2, 0), "n1"), RejectReason::kUnasked);
  EXPECT_EQ(Answer(CapturedStacks(2, 220)), std::nullopt);
  EXPECT_EQ(Answer(CapturedStacks(2, 0)), RejectReason::kUnasked);
  EXPECT_EQ(Answer(CapturedStacks(9, 0)), RejectReason::kUnasked);
}

TEST_F(CaptureTriggerTest, AnAgentThatDoesNotAnswerIsWaitedForOnlySoLong) {
  Open(Slow());
  trigger().Looked(job);
  for (const std::uint32_t r : {0u, 1u, 2u}) Answer(CapturedStacks(r, r == 2 ? 220 : 0));
  trigger().Looked(job);
  EXPECT_FALSE(ledger.Of("train").front().detail.known());
  clock.AdvanceSeconds(20);
  trigger().Looked(job);
  EXPECT_TRUE(ledger.Of("train").front().detail.known());
}

}  // namespace
}  // namespace fathom::collector
