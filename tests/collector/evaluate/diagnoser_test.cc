#include "collector/evaluate/diagnoser.h"

#include <gtest/gtest.h>

#include "fathom/v1/agent.pb.h"
#include "fathom/v1/row.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

struct Channel final : RowsChannel {
  bool Pass(v1::CollectorMessage message) override {
    if (!message.has_rows()) return false;
    sent.push_back(message.rows());
    return true;
  }
  std::vector<v1::RowsRequest> sent;
};

// Answers by script: what Watch says next, ahead of time too, and a verdict on rank 1 from
// Diagnose.
struct DiagnoserTest : testing::Test {
  FakeClock clock;
  JobTable jobs{clock, {}};
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  std::vector<std::pair<VerdictChange, Episode>> told;
  VerdictLedger ledger{[this](VerdictChange c, const Episode& e) { told.emplace_back(c, e); }};
  diagnosis::Suspicion next;
  bool slow_ahead = false;
  int watched = 0, ahead = 0, diagnosed = 0, ended = 0;
  std::int64_t told_up_to = 9;
  std::size_t rows_seen = 0;
  Diagnoser diagnoser{
      {jobs, registry, requests, ledger, clock, nullptr, [this](const JobState&) { ++ended; }},
      {[this](const diagnosis::JobView&, const diagnosis::DiagnosisConfig& config) {
         if (config.min_irregular == diagnosis::DiagnosisConfig().min_irregular) {
           ++watched;
           return next;
         }
         ++ahead;
         diagnosis::Suspicion soon = next;
         soon.slow = slow_ahead;
         return soon;
       },
       [this](const diagnosis::JobView& view, const diagnosis::Suspicion&,
              const diagnosis::DiagnosisConfig&) {
         ++diagnosed;
         for (const auto& [rank, rows] : view.rows) rows_seen += rows.ops.size();
         return Blame(1);
       }},
      {},
      Nanos(60'000'000'000)};
  std::shared_ptr<Channel> channel = std::make_shared<Channel>();
  std::shared_ptr<JobState> job;

  static diagnosis::Diagnosis Blame(std::uint32_t rank) {
    diagnosis::Diagnosis diagnosis;
    auto& verdict = diagnosis.verdicts.emplace_back();
    verdict.grade = diagnosis::Grade::kSupported;
    verdict.cause = diagnosis::Cause::kHostSlow;
    verdict.entity.ranks = {RankId(rank)};
    verdict.since_iteration = Iteration(3);
    return diagnosis;
  }
  void SetUp() override {
    registry.Connect(1, HelloFrom("n0").hello(), channel);
    job = jobs.FindOrAdd("train");
    for (std::uint32_t r = 0; r < 2; ++r) {
      job->Apply(RankOf(r, 2), "n0", 10);
      BatchShape shape;
      shape.rank = r;
      shape.count = 10;
      job->Apply(Batch(shape), "n0");
    }
  }
  // A rank ends its iteration number `first`.
  void Tell(std::uint32_t rank, std::int64_t first) {
    BatchShape shape;
    shape.rank = rank;
    shape.first = first;
    shape.anchor += static_cast<std::uint64_t>(first * shape.step);
    job->Apply(Batch(shape), "n0");
    diagnoser.Notify("train");
  }
  // All ranks end another iteration.
  void TellNext() {
    ++told_up_to;
    for (std::uint32_t rank = 0; rank < 2; ++rank) Tell(rank, told_up_to);
  }
  void LookAtNext() {
    TellNext();
    Look();
  }
  void Look() {
    clock.AdvanceSeconds(0.3);
    diagnoser.Notify("train");
    diagnoser.RunDue();
  }
  void BeSlow(bool rows) {
    next.slow = true;
    next.onset = Iteration(3);
    if (rows) next.rows = {{RankId(0), RankId(1)}, {Iteration(2), Iteration(3)}};
  }
  void Answer() {
    v1::RowsReply reply;
    reply.set_request_id(channel->sent.back().request_id());
    reply.set_job("train");
    for (std::uint32_t r = 0; r < 2; ++r) {
      auto& rows = *reply.add_ranks();
      rows.set_rank(r);
      rows.add_ops()->set_iteration(3);
    }
    ASSERT_FALSE(requests.OnReply("n0", reply));
  }
};

TEST_F(DiagnoserTest, ManyNewsOneLook) {
  for (int i = 0; i < 100; ++i) {
    diagnoser.Notify("train");
    diagnoser.RunDue();
  }
  EXPECT_EQ(watched, 1);
  clock.AdvanceSeconds(0.26);
  diagnoser.RunDue();
  EXPECT_EQ(watched, 2) << "the news that came in the gap";
  EXPECT_EQ(diagnosed, 0);
}

TEST_F(DiagnoserTest, LooksNowAndThenWithoutNews) {
  diagnoser.RunDue();
  clock.AdvanceSeconds(2);
  diagnoser.RunDue();
  EXPECT_EQ(watched, 2);
}

TEST_F(DiagnoserTest, FromSuspicionOverRowsToAVerdict) {
  BeSlow(true);
  Look();
  EXPECT_EQ(diagnosed, 0) << "it waits for rows";
  ASSERT_EQ(channel->sent.size(), 1u);
  EXPECT_EQ(channel->sent[0].ranks_size(), 2);
  Answer();
  Look();
  EXPECT_EQ(diagnosed, 1);
  EXPECT_EQ(rows_seen, 2u);
  LookAtNext();
  EXPECT_EQ(channel->sent.size(), 1u) << "rows are asked for once";
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, VerdictChange::kOpened);
  EXPECT_EQ(diagnoser.latencies().localization.count, 1u);
  EXPECT_NEAR(diagnoser.latencies().localization.sum_s, 0.6, 1e-6);
}

TEST_F(DiagnoserTest, RowsThatAreInAreNotKeptWaitingByTheGap) {
  BeSlow(true);
  Look();
  ASSERT_EQ(channel->sent.size(), 1u);
  diagnoser.RunDue();
  EXPECT_EQ(diagnosed, 0) << "nothing has come";
  Answer();
  diagnoser.RunDue();
  EXPECT_EQ(diagnosed, 1) << "no time has passed since it asked";
  EXPECT_TRUE(told.empty());
  diagnoser.RunDue();
  EXPECT_EQ(diagnosed, 1) << "a second look at once would confirm nothing";
}

TEST_F(DiagnoserTest, AVerdictIsConfirmedByAnotherIterationOnly) {
  BeSlow(true);
  Look();
  Answer();
  for (int i = 0; i < 5; ++i) Look();
  EXPECT_EQ(diagnosed, 5);
  EXPECT_TRUE(told.empty()) << "each look saw what the first had seen";
  LookAtNext();
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(DiagnoserTest, AHangIsConfirmedBySilence) {
  next.stalled = true;
  Look();
  Look();
  EXPECT_EQ(told.size(), 1u) << "it brings no more iterations";
}

TEST_F(DiagnoserTest, WhatMayBeSlowSoonIsLookedAtAheadOfTime) {
  BeSlow(true);
  next.slow = false;
  next.expected = Nanos(1'000'000'000);
  slow_ahead = true;
  for (std::int64_t i = 7; i < 10; ++i) next.irregular.push_back({Iteration(i), {}, "spike"});
  Look();
  EXPECT_EQ(ahead, 0) << "three slow iterations";
  next.irregular.insert(next.irregular.begin(), {Iteration(5), {}, "spike"});
  Look();
  EXPECT_EQ(ahead, 0) << "four, but not in a row";
  next.irregular.front().index = Iteration(6);
  Look();
  EXPECT_EQ(ahead, 1);
  ASSERT_EQ(channel->sent.size(), 1u);
  Answer();
  Look();
  EXPECT_EQ(diagnosed, 1);
  for (int i = 0; i < 5; ++i) Look();
  EXPECT_EQ(diagnosed, 1) << "nothing new to judge";
  EXPECT_TRUE(told.empty()) << "it is not slow";
  EXPECT_EQ(job->last_diagnosis().verdicts.size(), 0u);

  next.slow = true;
  LookAtNext();
  EXPECT_EQ(channel->sent.size(), 1u) << "the rows are here";
  ASSERT_EQ(told.size(), 1u) << "seen before, in other iterations";
  EXPECT_EQ(told[0].first, VerdictChange::kOpened);
}

TEST_F(DiagnoserTest, OfShortIterationsTheNextIsWaitedFor) {
  next.expected = Nanos(200'000'000);
  for (std::int64_t i = 6; i < 10; ++i) next.irregular.push_back({Iteration(i), {}, "spike"});
  slow_ahead = true;
  Look();
  EXPECT_EQ(ahead, 0);
}

TEST_F(DiagnoserTest, WhatWasSeenAheadIsForgottenWhenTheJobIsWell) {
  next.expected = Nanos(1'000'000'000);
  for (std::int64_t i = 6; i < 10; ++i) next.irregular.push_back({Iteration(i), {}, "spike"});
  slow_ahead = true;
  Look();
  EXPECT_EQ(diagnosed, 1);
  slow_ahead = false;
  LookAtNext();
  next.slow = true;
  LookAtNext();
  EXPECT_TRUE(told.empty());
  LookAtNext();
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(DiagnoserTest, ANewIterationOfASlowJobIsLookedAtAsSoonAsMayBe) {
  BeSlow(false);
  diagnoser.RunDue();
  ASSERT_EQ(watched, 1);
  clock.AdvanceSeconds(0.2);
  diagnoser.Notify("train");
  diagnoser.RunDue();
  EXPECT_EQ(watched, 1);
  clock.AdvanceSeconds(0.06);
  Tell(1, 10);
  diagnoser.RunDue();
  EXPECT_EQ(watched, 1) << "rank 0 has not reported it yet";
  Tell(0, 10);
  diagnoser.RunDue();
  EXPECT_EQ(watched, 2);
}

TEST_F(DiagnoserTest, WithoutAnAnswerItGoesOnWithWhatIsThere) {
  BeSlow(true);
  Look();
  Look();
  EXPECT_EQ(diagnosed, 0);
  clock.AdvanceSeconds(2);
  Look();
  EXPECT_EQ(diagnosed, 1);
  EXPECT_EQ(rows_seen, 0u);
  EXPECT_EQ(counters.row_requests_expired, 1u);
}

TEST_F(DiagnoserTest, AnAgentThatIsAwayIsNotWaitedFor) {
  registry.Disconnect(1, "n0");
  BeSlow(true);
  Look();
  EXPECT_EQ(diagnosed, 1);
}

TEST_F(DiagnoserTest, ARegularJobClosesItsVerdict) {
  BeSlow(false);
  Look();
  LookAtNext();
  ASSERT_EQ(told.size(), 1u);
  next = {};
  next.settled = true;
  for (int i = 0; i < 10; ++i) Look();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].second.closed_because, "recovered");
}

TEST_F(DiagnoserTest, ARestartClosesWhatBelongedToTheFormerLife) {
  BeSlow(false);
  Look();
  LookAtNext();
  auto info = RankOf(0, 2);
  info.set_pid(99);
  info.set_start_time_ticks(info.start_time_ticks() + 1);
  job->Apply(info, "n0", 10);
  next = {};
  Look();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].second.closed_because, "the job was restarted");
  EXPECT_TRUE(ledger.Of("train").empty());
}

TEST_F(DiagnoserTest, AnEndedJobIsToldOnceAndNoLongerLookedAt) {
  BeSlow(false);
  Look();
  LookAtNext();
  clock.AdvanceSeconds(61);  // nobody heard of it
  Look();
  EXPECT_EQ(ended, 1);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].second.closed_because, "the job ended");
  const int before = watched;
  for (int i = 0; i < 5; ++i) Look();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(watched, before);
  job->Apply(HealthOf(0), "n0");
  Look();
  EXPECT_EQ(watched, before + 1) << "it was only away";
}

}  // namespace
}  // namespace fathom::collector
