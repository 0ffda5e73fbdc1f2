// The views that a reader opens: one iteration op by op, its trace, communicators, actions.
#include <gmock/gmock.h>

#include <atomic>

#include "proto/types/collective_kind.h"
#include "tests/collector/server/server_fixture.h"

namespace fathom::collector {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMs = 1'000'000;

// One all-reduce an iteration; rank 1 comes 15 ms late to it, both end together.
v1::RowsReply Rows(const v1::RowsRequest& request) {
  v1::RowsReply reply;
  for (const std::uint32_t rank : request.ranks()) {
    auto& rows = *reply.add_ranks();
    rows.set_rank(rank);
    for (const std::int64_t i : request.iterations()) {
      const std::int64_t begin = 50'000 * kMs + i * 100 * kMs;
      auto& op = *rows.add_ops();
      op.set_op_id(static_cast<std::uint64_t>(i) + 1);
      op.set_group(kWorldGroup);
      op.set_sequence(1000 + static_cast<std::uint64_t>(i) * 5);
      op.set_kind(static_cast<std::uint32_t>(CollectiveKind::kAllReduce));
      op.set_bytes(4096);
      op.set_peer(~0u);
      op.set_enter_ns(begin + (rank == 1 ? 75 : 60) * kMs);
      op.set_end_ns(begin + 80 * kMs);
      op.set_iteration(i);
    }
  }
  return reply;
}

using ViewsTest = ServerFixture;

TEST_F(ViewsTest, OneIterationIsAskedOfTheAgentAndDrawn) {
  FakeAgent agent(collector_->grpc_port(), "n0",
                  [](const v1::RowsRequest& request) { return std::optional(Rows(request)); });
  agent.Hello();
  Feed(agent, 10);
  EXPECT_EQ(agent.requests(), 0);
  ASSERT_TRUE(Eventually("/api/v1/jobs/train/pictures", "\"why\":\"newest\",\"duration_us\":1"));
  EXPECT_THAT(Get("/api/v1/jobs/train/pictures").body,
              AllOf(HasSubstr("\"asked\":0,\"kept\":[0,1,2,3,4,5,6,7]"),
                    HasSubstr("\"kinds\":[\"all_reduce\"]"), HasSubstr("\"whole\":true")));
  ASSERT_TRUE(Eventually("/api/v1/jobs/train/pictures?iteration=2&rank=1",
                         "\"why\":\"chosen\",\"duration_us\""));
  EXPECT_THAT(Get("/api/v1/jobs/train/pictures?iteration=2").body,
              AllOf(HasSubstr("\"index\":2"),
                    HasSubstr("\"rank\":0,\"cut\":false,\"ops\":[[0,0,60000,80000,15000,4096,0]]"),
                    HasSubstr("\"rank\":1,\"cut\":false,\"ops\":[[0,0,75000,80000,0,4096,0]]")));
  EXPECT_THAT(Get("/api/v1/jobs/train/pictures?iteration=2,4").body,
              HasSubstr(R"("wanted":[{"index":2,"why":"chosen"},{"index":4,"why":"chosen"}])"));
  EXPECT_EQ(Get("/api/v1/jobs/train/pictures?iteration=2,500").status, 404);
  EXPECT_EQ(Get("/api/v1/jobs/train/pictures?iteration=1,2,3,4,5").status, 400);
  EXPECT_EQ(Get("/api/v1/jobs/train/pictures?iteration=x").status, 400);
  EXPECT_EQ(Get("/api/v1/jobs/train/pictures?rank=9000000").status, 400);
}

TEST_F(ViewsTest, AnAgentThatHasNothingIsAskedOnceAndTheAnswerIsEmpty) {
  FakeAgent agent(collector_->grpc_port(), "n0", [](const v1::RowsRequest& request) {
    v1::RowsReply reply;
    for (const std::uint32_t rank : request.ranks()) {
      auto& rows = *reply.add_ranks();
      rows.set_rank(rank);
      for (const std::int64_t i : request.iterations()) rows.add_iterations_missing(i);
    }
    return std::optional(reply);
  });
  agent.Hello();
  Feed(agent, 10);
  ASSERT_TRUE(Eventually("/api/v1/jobs/train/pictures?iteration=2", "\"asked\":0"));
  EXPECT_THAT(Get("/api/v1/jobs/train/pictures?iteration=2").body,
              HasSubstr("\"pictures\":{\"iterations\":[]"));
  EXPECT_EQ(agent.requests(), 1);
}

// Asked too early an agent has nothing, and an op in flight is kept with an iteration it is not of:
// what a reader of the page did must not be what diagnosis judges by.
TEST_F(ViewsTest, WhatThePageAskedForIsNotWhatDiagnosisJudges) {
  want_rows_ = true;
  std::atomic<int> asked{0};
  FakeAgent agent(collector_->grpc_port(), "n0", [&](const v1::RowsRequest& request) {
    v1::RowsReply reply = Rows(request);
    if (++asked == 1) {
      for (auto& rows : *reply.mutable_ranks()) rows.clear_ops();
    }
    return std::optional(reply);
  });
  agent.Hello();
  EventReader events(collector_->http_port(), "/api/v1/events?job=train");
  Feed(agent, 10);
  ASSERT_TRUE(Eventually("/api/v1/jobs/train/pictures?iteration=2,3", "\"asked\":0"));
  ASSERT_EQ(agent.requests(), 1);
  slow_ = true;
  FeedOneMore(agent);
  ASSERT_TRUE(events.Wait("event: verdict\ndata: {\"id\":\"v"));
  EXPECT_GE(rows_seen_, 4u);  // in each look
  EXPECT_THAT(Get("/api/v1/jobs/train/pictures?iteration=2,3").body, HasSubstr("\"index\":3"));
}

TEST_F(ViewsTest, TheTraceHoldsRanksAndOpsThatAreAtHand) {
  FakeAgent agent(collector_->grpc_port(), "n0",
                  [](const v1::RowsRequest& request) { return std::optional(Rows(request)); });
  agent.Hello();
  Feed(agent, 10);
  ASSERT_TRUE(
      Eventually("/api/v1/jobs/train/pictures?iteration=2", "\"why\":\"chosen\",\"duration_us\""));
  const RawReply trace = Get("/api/v1/jobs/train/perfetto");
  EXPECT_EQ(trace.status, 200);
  EXPECT_THAT(trace.head, HasSubstr("application/octet-stream"));
  EXPECT_THAT(trace.body,
              AllOf(HasSubstr("rank 0 on n0"), HasSubstr("rank 1 on n0"), HasSubstr("all_reduce")));
}

// The last to arrive takes 5 ms, of two members the factor is 1.
TEST_F(ViewsTest, BandwidthIsThatOfTheLastToArrive) {
  FakeAgent agent(collector_->grpc_port(), "n0",
                  [](const v1::RowsRequest& request) { return std::optional(Rows(request)); });
  agent.Hello();
  Feed(agent, 10);
  ASSERT_TRUE(Eventually("/api/v1/jobs/train/bandwidth?iteration=2,3", "\"asked\":0"));
  EXPECT_THAT(Get("/api/v1/jobs/train/bandwidth?iteration=2,3").body,
              AllOf(HasSubstr("\"iterations\":[2,3],\"ranks\":2"),
                    HasSubstr(R"("kind":"all_reduce","bytes":4096,"members":2,"count":2)"),
                    HasSubstr("\"transfer_s\":0.005,\"bus_bandwidth_bytes_per_s\":819200")));
  EXPECT_THAT(Get("/api/v1/jobs/train/bandwidth").body, HasSubstr("\"iterations\":[7,6,5,4]"));
  EXPECT_EQ(Get("/api/v1/jobs/train/bandwidth?iteration=x").status, 400);
}

TEST_F(ViewsTest, WithoutTheRowsOfAMemberNoBandwidthIsTold) {
  FakeAgent agent(collector_->grpc_port(), "n0", [](const v1::RowsRequest& request) {
    v1::RowsReply reply = Rows(request);
    for (auto& rows : *reply.mutable_ranks()) {
      if (rows.rank() == 1) rows.clear_ops();
    }
    return std::optional(reply);
  });
  agent.Hello();
  Feed(agent, 10);
  ASSERT_TRUE(Eventually("/api/v1/jobs/train/bandwidth?iteration=2", "\"asked\":0"));
  EXPECT_THAT(Get("/api/v1/jobs/train/bandwidth?iteration=2").body, HasSubstr("\"bandwidth\":[]"));
}

TEST_F(ViewsTest, CommunicatorsTellWhoCameLateAndWhoWaited) {
  FakeAgent agent(collector_->grpc_port(), "n0");
  agent.Hello();
  for (std::uint32_t r = 0; r < 2; ++r) {
    agent.Send(Message(0, RankOf(r, 2)));
    agent.Send(Message(0, GroupOf(r, 2)));
    BatchShape shape;
    shape.rank = r;
    shape.count = 10;
    shape.elapsed_us = r == 1 ? 5'000 : 20'000;
    agent.Send(Message(0, Batch(shape)));
  }
  ASSERT_TRUE(agent.WaitAcknowledged());
  EXPECT_THAT(Get("/api/v1/jobs/train/communicators?last=3").body,
              AllOf(HasSubstr("\"first\":5,\"last\":7,\"iterations\":3"),
                    HasSubstr("\"members_known\":true,\"ops\":5,\"ranks\":[0,1]"),
                    HasSubstr("\"kind\":\"world\""), HasSubstr("\"links\":[]")));
  const std::string body = Get("/api/v1/jobs/train/communicators").body;
  const auto number = [&](const std::string& after) {
    return std::stol(body.substr(body.find(after) + after.size()));
  };
  // The window keeps times to within 1/4096.
  EXPECT_EQ(number("\"late_us\":[0,"), number("\"wait_us\":["));
  EXPECT_NEAR(static_cast<double>(number("\"wait_us\":[")), 15'000, 10);
  EXPECT_EQ(Get("/api/v1/jobs/train/communicators?last=0").status, 400);
  EXPECT_EQ(Get("/api/v1/jobs/none/communicators").status, 404);
}

TEST_F(ViewsTest, WithoutAFathomCordonThatIsSaid) {
  EXPECT_THAT(Get("/api/v1/actions").body,
              AllOf(HasSubstr("\"state\":\"off\""), Not(HasSubstr("\"actions\"")),
                    HasSubstr("\"changes\":\"off\"")));
}

}  // namespace
}  // namespace fathom::collector
