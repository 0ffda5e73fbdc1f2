#include "collector/agents/row_requests.h"

#include <gtest/gtest.h>

#include "fathom/v1/agent.pb.h"
#include "fathom/v1/row.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

struct Channel final : RowsChannel {
  bool Pass(v1::CollectorMessage message) override {
    if (full || !message.has_rows()) return false;
    sent.push_back(message.rows());
    return true;
  }
  bool full = false;
  std::vector<v1::RowsRequest> sent;
};

struct RowRequestsTest : testing::Test {
  FakeClock clock;
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  std::shared_ptr<JobState> job = std::make_shared<JobState>("train", clock);
  std::shared_ptr<Channel> channel = std::make_shared<Channel>();

  void SetUp() override {
    registry.Connect(1, HelloFrom("n0").hello(), channel);
    for (std::uint32_t r = 0; r < 2; ++r) {
      job->Apply(RankOf(r, 2), "n0", 10);
      BatchShape shape;
      shape.rank = r;
      shape.count = 20;
      job->Apply(Batch(shape), "n0");
    }
  }
  RowsAsk Ask(int iterations) {
    RowsAsk ask{"n0", {RankId(0), RankId(1)}, {}, {}};
    for (int i = 0; i < iterations; ++i) {
      ask.iterations.push_back(i);
      ask.own.push_back(i);
    }
    return ask;
  }
  static v1::RowsReply Reply(std::uint64_t id) {
    v1::RowsReply reply;
    reply.set_request_id(id);
    reply.set_job("train");
    for (std::uint32_t r = 0; r < 2; ++r) {
      auto& rows = *reply.add_ranks();
      rows.set_rank(r);
      rows.add_ops()->set_iteration(0);
    }
    return reply;
  }
};

TEST_F(RowRequestsTest, AsksInPiecesThatFitOneMessage) {
  EXPECT_EQ(requests.Ask(job, {Ask(20)}, Nanos(1'000)), 3);
  ASSERT_EQ(channel->sent.size(), 3u);
  EXPECT_EQ(channel->sent[0].iterations_size(), 8);
  EXPECT_EQ(channel->sent[2].iterations_size(), 4);
  EXPECT_NE(channel->sent[0].request_id(), channel->sent[1].request_id());
}

TEST_F(RowRequestsTest, OfJobsWithManyOpsItAsksForLessAtOnce) {
  RowsAsk ask = Ask(20);
  ask.ops = 2'000;  // of two ranks: four iterations are 16,000 rows
  EXPECT_EQ(requests.Ask(job, {ask}, Nanos(1'000)), 5);
  EXPECT_EQ(channel->sent[0].iterations_size(), 4);
  channel->sent.clear();
  ask.ops = 12'000;
  EXPECT_EQ(requests.Ask(job, {ask}, Nanos(1'000)), 40);
  EXPECT_EQ(channel->sent[0].iterations_size(), 1);
  EXPECT_EQ(channel->sent[0].ranks_size(), 1);
}

TEST_F(RowRequestsTest, AnAnswerReachesTheJob) {
  requests.Ask(job, {Ask(1)}, Nanos(1'000));
  EXPECT_EQ(requests.Outstanding("train"), 1);
  EXPECT_FALSE(requests.OnReply("n0", Reply(channel->sent[0].request_id())));
  EXPECT_EQ(requests.Outstanding("train"), 0);
  EXPECT_EQ(counters.op_rows, 2u);
}

TEST_F(RowRequestsTest, AnAnswerNobodyAskedForIsRejected) {
  requests.Ask(job, {Ask(1)}, Nanos(1'000));
  const auto id = channel->sent[0].request_id();
  EXPECT_EQ(requests.OnReply("n0", Reply(id + 1)), RejectReason::kUnasked);
  EXPECT_EQ(requests.OnReply("n1", Reply(id)), RejectReason::kUnasked);
  auto other = Reply(id);
  other.set_job("other");
  EXPECT_EQ(requests.OnReply("n0", other), RejectReason::kUnasked);
  EXPECT_EQ(requests.OnReply("n0", Reply(id)), RejectReason::kUnasked) << "already answered";
  EXPECT_EQ(counters.op_rows, 0u);
}

TEST_F(RowRequestsTest, WhatDoesNotComeInTimeIsGivenUpAndCounted) {
  requests.Ask(job, {Ask(1)}, Nanos(2'000'000'000));
  clock.AdvanceSeconds(1.9);
  EXPECT_EQ(requests.Outstanding("train"), 1);
  clock.AdvanceSeconds(0.2);
  EXPECT_EQ(requests.Outstanding("train"), 0);
  EXPECT_EQ(counters.row_requests_expired, 1u);
}

TEST_F(RowRequestsTest, AnAgentThatIsAwayOrFullIsNotWaitedFor) {
  channel->full = true;
  EXPECT_EQ(requests.Ask(job, {Ask(1)}, Nanos(1'000)), 0);
  auto elsewhere = Ask(1);
  elsewhere.node = "n7";
  EXPECT_EQ(requests.Ask(job, {elsewhere}, Nanos(1'000)), 0);
  channel->full = false;
  requests.Ask(job, {Ask(1)}, Nanos(1'000));
  requests.OnDisconnect("n0");
  EXPECT_EQ(requests.Outstanding("train"), 0);
}

}  // namespace
}  // namespace fathom::collector
