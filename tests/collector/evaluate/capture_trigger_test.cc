#include "collector/evaluate/capture_trigger.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fathom/v1/agent.pb.h"
#include "fathom/v1/capture.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

struct Channel final : RowsChannel {
  bool Send(const v1::RowsRequest&) override { return false; }
  bool SendWindow(const v1::WindowRequest&) override { return false; }
  bool SendTrace(const v1::TraceOrder&) override { return false; }
  bool SendStacks(const v1::StackRequest&) override { return false; }
  bool SendCapture(const v1::CaptureRequest& request) override {
    sent.push_back(request);
    return true;
  }
  std::vector<v1::CaptureRequest> sent;
};

struct CaptureTriggerTest : testing::Test {
  static constexpr std::uint32_t kRanks = 4;

  void SetUp() override {
    registry.Connect(1, HelloFrom("n0").hello(), channel);
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      job.Apply(RankOf(r, kRanks), "n0", 10);
      BatchShape shape;
      shape.rank = r;
      shape.count = 20;
      job.Apply(Batch(shape), "n0");
    }
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

  static v1::RankCapture Stacks(std::uint32_t rank, std::uint32_t asleep) {
    v1::RankCapture capture;
    capture.set_rank(rank);
    capture.set_state("done");
    capture.set_seconds(4);
    capture.set_samples(400);
    const auto add = [&](const char* function, std::uint32_t line, std::uint32_t count) {
      auto& frame = *capture.add_frames();
      frame.set_function(function);
      frame.set_file("/job/train.py");
      frame.set_line(line);
      auto& stack = *capture.add_stacks();
      stack.add_frames(static_cast<std::uint32_t>(capture.frames_size() - 1));
      stack.set_count(count);
    };
    add("backward", 101, 400 - asleep);
    if (asleep > 0) add("write_metrics", 85, asleep);
    return capture;
  }
  Rejection Answer(const v1::RankCapture& capture, const std::string& node = "n0") {
    v1::CaptureReply reply;
    reply.set_request_id(channel->sent.back().request_id());
    reply.set_job("train");
    *reply.add_ranks() = capture;
    return captures.OnReply(node, reply);
  }
  void AnswerAll() {
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      EXPECT_EQ(Answer(Stacks(r, r == 2 ? 220 : 0)), std::nullopt);
    }
  }

  FakeClock clock;
  SessionRegistry registry{clock};
  JobState job{"train", clock};
  std::shared_ptr<Channel> channel = std::make_shared<Channel>();
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
          settings, CaptureTrigger::Parts{captures, ledger,
                                          [this](const std::string& line) { said.push_back(line); },
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
      for (std::uint32_t r = 0; r < kRanks; ++r) Answer(Stacks(r, 0));
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
  for (std::uint32_t r = 0; r < kRanks; ++r) Answer(Stacks(r, 0));
  clock.AdvanceSeconds(21);
  trigger().Looked(job);
  trigger().Looked(job);
  EXPECT_EQ(channel->sent.size(), 1u);
  EXPECT_EQ(trigger().counts().limited, 1u);
}

TEST_F(CaptureTriggerTest, AnAnswerCountsOnceAndFromTheNodeThatWasAsked) {
  Open(Slow());
  trigger().Looked(job);
  EXPECT_EQ(Answer(Stacks(2, 0), "n1"), RejectReason::kUnasked);
  EXPECT_EQ(Answer(Stacks(2, 220)), std::nullopt);
  EXPECT_EQ(Answer(Stacks(2, 0)), RejectReason::kUnasked);
  EXPECT_EQ(Answer(Stacks(9, 0)), RejectReason::kUnasked);
}

TEST_F(CaptureTriggerTest, AnAgentThatDoesNotAnswerIsWaitedForOnlySoLong) {
  Open(Slow());
  trigger().Looked(job);
  for (const std::uint32_t r : {0u, 1u, 2u}) Answer(Stacks(r, r == 2 ? 220 : 0));
  trigger().Looked(job);
  EXPECT_FALSE(ledger.Of("train").front().detail.known());
  clock.AdvanceSeconds(20);
  trigger().Looked(job);
  EXPECT_TRUE(ledger.Of("train").front().detail.known());
}

}  // namespace
}  // namespace fathom::collector
