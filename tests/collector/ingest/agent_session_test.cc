#include "collector/ingest/agent_session.h"

#include <gtest/gtest.h>

#include "collector/admission/limits.h"
#include "fathom/v1/agent.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

struct AgentSessionTest : testing::Test {
  FakeClock clock;
  JobTable jobs{clock, {4, 100}};
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  std::vector<std::string> changed;
  IngestContext context{jobs, registry, requests, counters,
                        [this](const std::string& job) { changed.push_back(job); }};

  std::uint64_t Rejected(RejectReason reason) const {
    return counters.rejected[static_cast<std::size_t>(reason)];
  }
};

TEST_F(AgentSessionTest, HelloThenRanksThenSummaries) {
  AgentSession session(1, context, {});
  EXPECT_TRUE(session.OnMessage(HelloFrom("n0")).greet);
  EXPECT_TRUE(registry.Connected("n0"));
  session.OnMessage(Message(2, RankOf(0, 2)));
  session.OnMessage(Message(3, GroupOf(0, 2)));
  const auto outcome = session.OnMessage(Message(4, Batch({})));
  EXPECT_FALSE(outcome.close);
  EXPECT_EQ(session.acknowledged(), 4u);
  EXPECT_EQ(counters.summary_rows, 1u);
  EXPECT_EQ(changed.size(), 3u);
  ASSERT_NE(jobs.Find("train"), nullptr);
}

TEST_F(AgentSessionTest, AJobIsAuthenticatedWhileNobodyUnknownTellsOfIt) {
  AgentSession known(1, context, {});
  known.Authenticate();
  known.OnMessage(HelloFrom("n0"));
  known.OnMessage(Message(2, RankOf(0, 2)));
  EXPECT_TRUE(jobs.Find("train")->Figures().authenticated);
  AgentSession anybody(2, context, {});
  anybody.OnMessage(HelloFrom("n1"));
  anybody.OnMessage(Message(2, RankOf(1, 2)));
  EXPECT_FALSE(jobs.Find("train")->Figures().authenticated);
}

TEST_F(AgentSessionTest, WithoutHelloTheStreamIsOver) {
  AgentSession session(1, context, {});
  const auto outcome = session.OnMessage(Message(1, RankOf(0, 2)));
  EXPECT_TRUE(outcome.close);
  EXPECT_FALSE(outcome.refused.empty());
  EXPECT_EQ(Rejected(RejectReason::kNoHello), 1u);
  EXPECT_EQ(jobs.Find("train"), nullptr);
}

TEST_F(AgentSessionTest, AnotherProtocolIsRefusedByName) {
  AgentSession session(1, context, {});
  const auto outcome = session.OnMessage(HelloFrom("n0", 2));
  EXPECT_TRUE(outcome.close);
  EXPECT_NE(outcome.refused.find("protocol 2"), std::string::npos);
  EXPECT_FALSE(registry.Connected("n0"));
}

TEST_F(AgentSessionTest, MessagesSentAgainAfterAReconnectionAreNoOps) {
  {
    AgentSession first(1, context, {});
    first.OnMessage(HelloFrom("n0"));
    first.OnMessage(Message(2, RankOf(0, 1)));
    first.OnMessage(Message(3, Batch({})));
  }
  EXPECT_FALSE(registry.Connected("n0"));
  AgentSession second(2, context, {});
  second.OnMessage(HelloFrom("n0"));
  second.OnMessage(Message(2, RankOf(0, 1)));
  second.OnMessage(Message(3, Batch({})));
  EXPECT_EQ(counters.summary_rows, 1u);
  EXPECT_EQ(counters.repeated_rows, 1u);
  EXPECT_EQ(jobs.Find("train")->Figures().incarnation, 1u);
}

TEST_F(AgentSessionTest, ANewerStreamOfANodeOutlivesTheOlder) {
  auto older = std::make_unique<AgentSession>(1, context, std::weak_ptr<RowsChannel>());
  older->OnMessage(HelloFrom("n0"));
  AgentSession newer(2, context, {});
  newer.OnMessage(HelloFrom("n0"));
  older.reset();
  EXPECT_TRUE(registry.Connected("n0"));
}

TEST_F(AgentSessionTest, ANodeOfACertificateIsNobodyElses) {
  AgentSession session(1, context, {}, {.identity = "a certificate", .names = {{"n1"}}});
  const auto outcome = session.OnMessage(HelloFrom("n0"));
  EXPECT_TRUE(outcome.close);
  EXPECT_NE(outcome.refused.find("speaks for n1 and not for node n0"), std::string::npos);
  EXPECT_EQ(Rejected(RejectReason::kWrongName), 1u);
  EXPECT_FALSE(registry.Connected("n0"));
}

TEST_F(AgentSessionTest, AConnectedNodeIsTakenOverByItsOwnIdentityOnly) {
  auto owner = std::make_unique<AgentSession>(1, context, std::weak_ptr<RowsChannel>(),
                                              Witness{.identity = "user 0", .names = {}});
  owner->OnMessage(HelloFrom("n0"));
  AgentSession stranger(2, context, {}, {.identity = "user 7", .names = {}});
  EXPECT_TRUE(stranger.OnMessage(HelloFrom("n0")).close);
  EXPECT_EQ(Rejected(RejectReason::kWrongName), 1u);
  AgentSession again(3, context, {}, {.identity = "user 0", .names = {}});
  EXPECT_FALSE(again.OnMessage(HelloFrom("n0")).close);
}

TEST_F(AgentSessionTest, BadMessagesAreCountedAndInTheEndCostTheStream) {
  AgentSession session(1, context, {});
  session.OnMessage(HelloFrom("n0"));
  session.OnMessage(Message(2, RankOf(0, 1)));
  auto bad = Batch({});
  bad.add_cpu_us(1);
  for (int i = 1; i < kMaxRejectsPerStream; ++i) {
    ASSERT_FALSE(session.OnMessage(Message(3, bad)).close);
  }
  EXPECT_EQ(session.OnMessage(Message(3, Batch({}))).close, false) << "good ones still count";
  EXPECT_EQ(counters.summary_rows, 1u);
  EXPECT_TRUE(session.OnMessage(Message(3, bad)).close);
  EXPECT_EQ(Rejected(RejectReason::kColumnLengths), static_cast<unsigned>(kMaxRejectsPerStream));
}

TEST_F(AgentSessionTest, ANodeCannotSpeakForAnothersRanks) {
  AgentSession good(1, context, {});
  good.OnMessage(HelloFrom("n0"));
  good.OnMessage(Message(2, RankOf(0, 1)));
  AgentSession evil(2, context, {});
  evil.OnMessage(HelloFrom("n1"));
  evil.OnMessage(Message(2, Batch({})));
  v1::RankGone gone;
  gone.set_job("train");
  gone.set_pid(1000);
  evil.OnMessage(Message(3, gone));
  EXPECT_EQ(Rejected(RejectReason::kNotOwner), 2u);
  EXPECT_EQ(counters.summary_rows, 0u);
}

TEST_F(AgentSessionTest, ARankThatWasAnothersIsTakenOnceItsOwnerIsGone) {
  AgentSession owner(1, context, {});
  owner.OnMessage(HelloFrom("n0"));
  owner.OnMessage(Message(2, RankOf(0, 1)));
  AgentSession next(2, context, {});
  next.OnMessage(HelloFrom("n1"));
  auto moved = RankOf(0, 1);
  moved.set_pid(7);
  EXPECT_FALSE(next.OnMessage(Message(2, moved)).close);
  EXPECT_FALSE(next.OnMessage(Message(3, Batch({}))).close);
  EXPECT_EQ(Rejected(RejectReason::kNotOwner), 2u);
  v1::RankGone gone;
  gone.set_job("train");
  gone.set_pid(1000);
  gone.set_how("exited");
  owner.OnMessage(Message(3, gone));
  EXPECT_TRUE(next.OnMessage(Message(4, Batch({}))).close) << "so that its agent says all again";
  EXPECT_EQ(jobs.Find("train")->Figures().incarnation, 2u);
}

TEST_F(AgentSessionTest, JobsAndRanksAreBounded) {
  AgentSession session(1, context, {});
  session.OnMessage(HelloFrom("n0"));
  for (int j = 0; j < 10; ++j)
    session.OnMessage(Message(2, RankOf(0, 1, "job" + std::to_string(j))));
  EXPECT_EQ(jobs.All().size(), 4u);
  EXPECT_EQ(Rejected(RejectReason::kTooManyJobs), 6u);
  for (std::uint32_t r = 1; r < 200; ++r) session.OnMessage(Message(2, RankOf(r, 1000, "job0")));
  EXPECT_EQ(Rejected(RejectReason::kBadWorldSize), 199u) << "job0 has a world of one";
}

TEST_F(AgentSessionTest, RanksOverAllJobsAreBounded) {
  AgentSession session(1, context, {});
  session.OnMessage(HelloFrom("n0"));
  for (std::uint32_t r = 0; r < 150; ++r) session.OnMessage(Message(2, RankOf(r, 1000)));
  EXPECT_EQ(jobs.Find("train")->rank_count(), 100u);
  EXPECT_EQ(Rejected(RejectReason::kTooManyRanks), 50u);
}

TEST_F(AgentSessionTest, AnEndedJobMakesRoom) {
  AgentSession session(1, context, {});
  session.OnMessage(HelloFrom("n0"));
  for (int j = 0; j < 4; ++j)
    session.OnMessage(Message(2, RankOf(0, 1, "job" + std::to_string(j))));
  v1::RankGone gone;
  gone.set_job("job2");
  gone.set_pid(1000);
  session.OnMessage(Message(3, gone));
  jobs.Find("job2")->UpdateEnded(MonoNs(0));
  session.OnMessage(Message(4, RankOf(0, 1, "job9")));
  EXPECT_EQ(jobs.Find("job2"), nullptr);
  EXPECT_NE(jobs.Find("job9"), nullptr);
}

TEST_F(AgentSessionTest, CountersOfAgentsAddUpAlsoOverARestart) {
  AgentSession session(1, context, {});
  session.OnMessage(HelloFrom("n0"));
  v1::AgentMessage message;
  message.mutable_counters()->set_records(100);
  (*message.mutable_counters()->mutable_records_dropped())["torn"] = 3;
  session.OnMessage(message);
  message.mutable_counters()->set_records(150);
  session.OnMessage(message);
  message.mutable_counters()->set_records(20);  // a new agent process
  session.OnMessage(message);
  EXPECT_EQ(registry.Totals().records, 170u);
  EXPECT_EQ(registry.Totals().records_dropped.at("torn"), 3u);
}

// The agent tells who takes part at the beginning of a stream only.
TEST_F(AgentSessionTest, WhoWasRefusedIsAskedAgainOnceThereIsRoom) {
  AgentSession session(1, context, {});
  session.OnMessage(HelloFrom("n0"));
  for (int i = 0; i < 4; ++i) {
    session.OnMessage(Message(2, RankOf(0, 1, "old" + std::to_string(i))));
  }
  session.OnMessage(Message(3, RankOf(0, 2)));
  EXPECT_EQ(Rejected(RejectReason::kTooManyJobs), 1u);
  EXPECT_FALSE(session.OnMessage(Message(4, Batch({}))).close) << "there is no room yet";
  clock.AdvanceSeconds(100);
  ASSERT_TRUE(jobs.Find("old0")->UpdateEnded(clock.Mono()));
  EXPECT_TRUE(session.OnMessage(Message(5, Batch({}))).close);
}

}  // namespace
}  // namespace fathom::collector
