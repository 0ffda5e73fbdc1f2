#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "collector/admission/limits.h"
#include "tests/collector/server/server_fixture.h"
#include "tests/collector/tokens.h"

namespace fathom::collector {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using ServerTest = ServerFixture;

TEST_F(ServerTest, FromAnAgentsStreamToTheApi) {
  FakeAgent agent(collector_->grpc_port(), "n0");
  agent.Hello();
  ASSERT_EQ(agent.WaitGreeting(), "");
  Feed(agent, 10);
  EXPECT_THAT(Get("/api/v1/jobs").body,
              AllOf(HasSubstr("\"name\":\"train\""), HasSubstr("\"world_size\":2"),
                    HasSubstr("\"state\":\"running\""), HasSubstr("\"iteration\":9")));
  EXPECT_THAT(Get("/api/v1/jobs/train").body,
              AllOf(HasSubstr("\"kind\":\"world\""), HasSubstr("\"ranks\":[0,1]"),
                    HasSubstr("\"rank_info\":[{\"rank\":0,\"node\":\"n0\",\"pid\":1000")));
  EXPECT_THAT(Get("/api/v1/jobs/train/iterations?after=5&limit=3").body,
              AllOf(HasSubstr("\"iterations\":[7,8,9]"), HasSubstr("\"onset\":null"),
                    HasSubstr("\"duration_us\":[100000,100000,100000]"),
                    HasSubstr("\"late_us\":[[0,0],[0,0],[0,0]]")));
  EXPECT_THAT(Get("/api/v1/jobs/train/report").body,
              AllOf(HasSubstr("\"schema\":\"fathom.v1.Report\""), HasSubstr("\"verdicts\":[]"),
                    HasSubstr("\"count\":\"10\"")));
  EXPECT_THAT(Get("/api/v1/jobs/train/health").body,
              AllOf(HasSubstr("\"agents\":[{\"node\":\"n0\",\"connected\":true"),
                    HasSubstr("\"signals\":[{\"name\":\"ranks\",\"state\":\"on\"")));
  EXPECT_THAT(Get("/api/v1/nodes").body,
              AllOf(HasSubstr("\"name\":\"n0\""), HasSubstr("\"ranks\":2"),
                    HasSubstr("\"suspect\":false"), HasSubstr("\"load1\":null"),
                    HasSubstr("\"convicted_jobs\":0,\"last_convicted_unix_ns\":0"),
                    HasSubstr("\"repeat_days\":30,\"repeat_jobs\":3")));
  EXPECT_EQ(Get("/api/v1/nodes/n7").status, 404);
}

TEST_F(ServerTest, MessagesThatComeTogetherAreTakenAsIfEachCameAlone) {
  FakeAgent agent(collector_->grpc_port(), "n0");
  agent.Hello();
  ASSERT_EQ(agent.WaitGreeting(), "");
  v1::AgentMessage first = Message(0, RankOf(0, 2));
  *first.add_more() = Message(0, RankOf(1, 2));
  *first.add_more() = Message(0, GroupOf(0, 2));
  *first.add_more() = Message(0, GroupOf(1, 2));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    *first.add_more() = Message(0, Batch({.rank = rank, .count = 10}));
  }
  ASSERT_TRUE(agent.Send(std::move(first)));
  EXPECT_TRUE(agent.WaitAcknowledged());
  EXPECT_THAT(Get("/api/v1/jobs").body,
              AllOf(HasSubstr("\"name\":\"train\""), HasSubstr("\"iteration\":9")));
  EXPECT_THAT(Get("/metrics").body, HasSubstr("fathom_ingest_rows_total{kind=\"summary\"} 20\n"));
}

TEST_F(ServerTest, FromSuspicionOverRowsToVerdictReportMetricsAndBack) {
  want_rows_ = true;
  FakeAgent agent(collector_->grpc_port(), "n0", FakeAgent::AnOpOfEach);
  agent.Hello();
  EventReader events(collector_->http_port(), "/api/v1/events?job=train");
  ASSERT_TRUE(events.Wait("retry:"));
  Feed(agent, 10);
  ASSERT_TRUE(events.Wait("event: job\ndata: {\"name\":\"train\""));
  ASSERT_TRUE(events.Wait("event: iterations\ndata: {\"job\":\"train\",\"last\":9}"));
  slow_ = true;
  FeedOneMore(agent);
  ASSERT_TRUE(events.Wait("event: verdict\ndata: {\"id\":\"v"));
  EXPECT_GE(agent.requests(), 1);
  EXPECT_GT(rows_seen_, 0u);
  EXPECT_THAT(Get("/api/v1/verdicts?job=train&active=1").body,
              HasSubstr("\"sentence\":\"Rank 1 holds the job back.\""));
  EXPECT_THAT(Get("/api/v1/verdicts?job=train&active=1").body,
              AllOf(HasSubstr("\"authenticated\":true"), HasSubstr("\"now_unix_ns\":"),
                    HasSubstr("\"seen_unix_ns\":\"1")));
  EXPECT_THAT(Get("/api/v1/jobs").body,
              AllOf(HasSubstr("\"state\":\"slow\""), HasSubstr("\"slowdown\":2.5"),
                    HasSubstr("\"verdicts\":1"), HasSubstr("Rank 1 holds the job back.")));
  EXPECT_THAT(Get("/api/v1/nodes").body, HasSubstr("\"suspect\":true"));
  EXPECT_THAT(Get("/api/v1/nodes/n0").body,
              AllOf(HasSubstr("\"convicted_jobs\":1,"), HasSubstr("\"repeat_offender\":false"),
                    HasSubstr("\"sentence\":\"Rank 1 holds the job back.\"")));
  EXPECT_THAT(Get("/metrics").body,
              AllOf(HasSubstr("fathom_verdict_active{job=\"train\",cause=\"host_slow\","
                              "class=\"noncommunication_slow\",grade=\"established\""),
                    HasSubstr("fathom_node_suspect{node=\"n0\",cause=\"host_slow\""),
                    HasSubstr("fathom_localization_seconds_count 1")));
  const std::string report = Get("/api/v1/jobs/train/report").body;
  const auto id = report.substr(report.find("\"id\":\"v") + 6, 13);
  EXPECT_EQ(Get("/api/v1/verdicts/" + id).status, 200);
  slow_ = false;
  ASSERT_TRUE(events.Wait("\"closed_because\":\"recovered\""));
  EXPECT_THAT(Get("/api/v1/verdicts?active=1").body, HasSubstr("\"verdicts\":[]}"));
  EXPECT_THAT(Get("/api/v1/jobs/train/report").body, HasSubstr("\"until\":{"));
}

TEST_F(ServerTest, ThePlanTellsOfTheCollectorAndWithANodeOfAgentsOnly) {
  collector_.reset();
  CollectorConfig config;
  config.budget_cpu = 0.001;  // as much as nothing
  Start(":memory:", config);
  FakeAgent agent(collector_->grpc_port(), "n0");
  agent.Hello();
  Feed(agent, 10);
  ASSERT_TRUE(Eventually("/api/v1/plan", "\"name\":\"messages\""));
  EXPECT_THAT(Get("/api/v1/plan").body,
              AllOf(HasSubstr("{\"plan\":[{\"collector\":\""), HasSubstr("\"fits\":false"),
                    HasSubstr("\"budget\":{\"cores\":1e-05,\"bytes_per_s\":0,")));
  EXPECT_THAT(Get("/metrics").body, AllOf(HasSubstr("fathom_budget{resource=\"cores\"} 1e-05"),
                                          HasSubstr("fathom_plan_cpu_ratio{part=\"messages\"}"),
                                          HasSubstr("fathom_plan_level{part=\"looks\"}")));
  EXPECT_EQ(Get("/api/v1/plan?node=n0").body, "{\"plan\":[]}") << "its agent has told none";
}

TEST_F(ServerTest, AJobThatEndedKeepsItsReport) {
  {
    FakeAgent agent(collector_->grpc_port(), "n0");
    agent.Hello();
    Feed(agent, 10);
    for (std::uint32_t r = 0; r < 2; ++r) {
      v1::RankGone gone;
      gone.set_job("train");
      gone.set_rank(r);
      gone.set_pid(1000 + r);
      gone.set_orderly(true);
      agent.Send(Message(0, gone));
    }
    ASSERT_TRUE(agent.WaitAcknowledged());
  }
  EXPECT_TRUE(Eventually("/api/v1/jobs", "\"state\":\"ended\""));
  EXPECT_TRUE(Eventually("/api/v1/nodes", "\"connected\":false"));
  EXPECT_EQ(Get("/api/v1/jobs/train/report").status, 200);
}

TEST_F(ServerTest, SeveralJobsAtOnceDoNotMix) {
  FakeAgent one(collector_->grpc_port(), "n0");
  FakeAgent two(collector_->grpc_port(), "n1");
  one.Hello();
  two.Hello();
  Feed(one, 5);
  two.Send(Message(0, RankOf(0, 1, "other job/2")));
  BatchShape shape;
  shape.job = "other job/2";
  shape.count = 3;
  two.Send(Message(0, Batch(shape)));
  ASSERT_TRUE(two.WaitAcknowledged());
  EXPECT_THAT(Get("/api/v1/jobs/other%20job%2F2").body, HasSubstr("\"iteration\":2"));
  EXPECT_THAT(Get("/api/v1/jobs/train").body, HasSubstr("\"iteration\":4"));
}

TEST_F(ServerTest, AHostilePeerCostsOnlyItsOwnStream) {
  FakeAgent good(collector_->grpc_port(), "n0");
  good.Hello();
  FakeAgent silent(collector_->grpc_port(), "n1");
  silent.Send(Message(0, RankOf(0, 2)));  // no Hello
  EXPECT_THAT(silent.WaitGreeting().value_or(""), HasSubstr("Hello"));
  EXPECT_TRUE(silent.WaitOver());
  FakeAgent future(collector_->grpc_port(), "n2");
  future.Hello(9);
  EXPECT_THAT(future.WaitGreeting().value_or(""), HasSubstr("protocol 9"));
  EXPECT_TRUE(future.WaitOver());
  FakeAgent bad(collector_->grpc_port(), "n3");
  bad.Hello();
  auto batch = Batch({});
  batch.add_gc_us(1);
  for (int i = 0; i < kMaxRejectsPerStream + 5 && bad.Send(Message(0, batch)); ++i) {
  }
  EXPECT_TRUE(bad.WaitOver());
  FakeAgent large(collector_->grpc_port(), "n4");
  large.Hello();
  auto info = RankOf(0, 1);
  info.set_tracer_version(std::string(kMaxMessageBytes + 1, 'x'));
  large.Send(Message(0, info));
  EXPECT_TRUE(large.WaitOver());
  FakeAgent crowd(collector_->grpc_port(), "n5");
  crowd.Hello();
  auto many = Message(0, RankOf(0, 1, "crowd"));
  for (int i = 0; i <= kMostMessagesTogether; ++i) many.add_more();
  crowd.Send(many);
  EXPECT_TRUE(crowd.WaitOver());
  Feed(good, 5);
  EXPECT_THAT(Get("/metrics").body,
              AllOf(HasSubstr("fathom_ingest_rejected_total{reason=\"no_hello\"} 1\n"),
                    HasSubstr("fathom_ingest_rejected_total{reason=\"protocol\"} 1\n"),
                    HasSubstr("fathom_ingest_rejected_total{reason=\"column_lengths\"} 1000\n"),
                    HasSubstr("fathom_ingest_rows_total{kind=\"summary\"} 10\n")));
}

TEST_F(ServerTest, TheHealthServiceAnswers) {
  EXPECT_TRUE(FakeAgent::Serving(collector_->grpc_port()));
  EXPECT_EQ(Get("/healthz").body, "{\"status\":\"ok\"}");
  EXPECT_EQ(Get("/readyz").body, "{\"ready\":true,\"degraded\":[]}");
}

v1::RankWindow WindowOf(std::uint32_t rank) {
  v1::RankWindow window;
  window.set_rank(rank);
  window.set_state(rank == 0 ? "refused" : "closed");
  window.set_reason(rank == 0 ? "other_profiler" : "");
  auto& sum = *window.add_sums();
  sum.set_kind("kernel");
  sum.set_name("gemm");
  sum.set_count(12);
  return window;
}

RawReply Post(int port, const std::string& target, const std::string& type = "application/json") {
  return HttpRequest(port, "POST", target, "Content-Type: " + type + "\r\n", "{}");
}

TEST_F(ServerTest, AWindowOfDetailIsAskedOfTheAgentAndShown) {
  const int port = collector_->http_port();
  const std::string profile = "/api/v1/jobs/train/profile";
  FakeAgent agent(collector_->grpc_port(), "n0", nullptr, WindowOf);
  agent.Hello();
  agent.Send(Message(0, RankOf(0, 2)));
  ASSERT_TRUE(agent.WaitAcknowledged());
  EXPECT_EQ(Post(port, profile).status, 409) << "no iteration is known";
  Feed(agent, 10);
  EXPECT_THAT(Get(profile).body, AllOf(HasSubstr("\"id\":0"), HasSubstr("\"ranks\":[]")));
  EXPECT_EQ(Post(port, profile, "text/plain").status, 415) << "a form of another origin";
  EXPECT_EQ(Post(port, profile + "?seconds=0").status, 400);
  EXPECT_EQ(Post(port, profile + "?ranks=a").status, 400);
  EXPECT_EQ(Post(port, "/api/v1/jobs/train/report").status, 405);
  ASSERT_EQ(Post(port, profile + "?seconds=1").status, 200);
  ASSERT_TRUE(Eventually(profile, "\"state\":\"closed\""));
  EXPECT_THAT(Get(profile).body,
              AllOf(HasSubstr("\"iterations\":10"), HasSubstr("\"reason\":\"other_profiler\""),
                    HasSubstr("\"name\":\"gemm\",\"count\":12")));
}

TEST_F(ServerTest, SourcesAreSwitchedAndStacksReadByTheAgent) {
  const int port = collector_->http_port();
  const std::string trace = "/api/v1/jobs/train/trace", stacks = "/api/v1/jobs/train/stacks";
  FakeAgent agent(collector_->grpc_port(), "n0");
  agent.Hello();
  agent.Send(Message(0, RankOf(0, 2)));
  ASSERT_TRUE(agent.WaitAcknowledged());
  EXPECT_EQ(Post(port, trace + "?off=cuda").status, 409) << "no iteration is known";
  Feed(agent, 10);
  EXPECT_EQ(Post(port, trace + "?off=cuda", "text/plain").status, 415);
  for (const char* wrong : {"", "?off=warp", "?off=gloo", "?on=nccl", "?off=cuda&ranks=a",
                            "?off=cuda&on=cuda", "?off=nccl_plugin&ranks=0"}) {
    EXPECT_EQ(Post(port, trace + wrong).status, 400) << wrong;
  }
  EXPECT_THAT(Get(trace).body, AllOf(HasSubstr("\"id\":0"), HasSubstr("\"switched_off\":{}")));
  ASSERT_EQ(Post(port, trace + "?off=cuda,python").status, 200);
  ASSERT_TRUE(Eventually(trace, "\"cuda\":2"));
  EXPECT_THAT(Get(trace).body, HasSubstr("\"state\":\"done\""));
  EXPECT_THAT(Get("/api/v1/jobs/train/health").body,
              HasSubstr("\"switched_off\":[\"cuda\",\"python\"]"));
  EXPECT_THAT(Get("/metrics").body,
              HasSubstr("fathom_job_ranks_switched_off{job=\"train\",source=\"python\"} 2"));
  EXPECT_EQ(Post(port, stacks + "?ranks=x").status, 400);
  EXPECT_EQ(Post(port, stacks, "text/plain").status, 415);
  ASSERT_EQ(Post(port, stacks + "?ranks=1").status, 200);
  ASSERT_TRUE(Eventually(stacks, "step (train.py:7)"));
}

struct LoginServerTest : ServerTest {
  const std::string tokens =
      testing::TempDir() + "fathom-server-tokens-" + std::to_string(getpid());

  void SetUp() override {
    std::ofstream(tokens) << TokenLine("ann", "operator", kAnnHash)
                          << TokenLine("bob", "viewer", kBobHash);
    chmod(tokens.c_str(), 0600);
    CollectorConfig config;
    config.login.token_file = tokens;
    Start(":memory:", config);
  }
  void TearDown() override { unlink(tokens.c_str()); }

  RawReply Ask(const std::string& method, const std::string& target, const std::string& headers,
               const std::string& body = "") const {
    return HttpRequest(collector_->http_port(), method, target, headers, body);
  }
  static std::string Bearer(const std::string& token) {
    return "Authorization: Bearer " + token + "\r\n";
  }
};

TEST_F(LoginServerTest, WithoutATokenOnlyHealthAndThePageAreServed) {
  for (const char* open : {"/healthz", "/readyz", "/login"}) EXPECT_EQ(Get(open).status, 200);
  EXPECT_NE(Get("/").status, 401) << "the page holds no data";
  for (const char* closed : {"/api/v1/jobs", "/api/v1/events", "/metrics", "/api/v1/no/such"}) {
    const RawReply refused = Get(closed);
    EXPECT_EQ(refused.status, 401) << closed;
    EXPECT_THAT(refused.head, HasSubstr("WWW-Authenticate: Bearer"));
  }
  EXPECT_EQ(Ask("GET", "/api/v1/jobs", Bearer("wrong-0123456789")).status, 401);
  EXPECT_EQ(Ask("GET", "/api/v1/jobs", Bearer(kBob)).status, 200);
  EXPECT_THAT(Ask("GET", "/metrics", Bearer(kBob)).body,
              HasSubstr("fathom_login_failures_total{reason=\"token\"} 1"));
}

TEST_F(LoginServerTest, OnlyAnOperatorOpensAWindow) {
  FakeAgent agent(collector_->grpc_port(), "n0", nullptr, WindowOf);
  agent.Hello();
  Feed(agent, 10);
  const auto open = [&](const std::string& headers) {
    const std::string json = "Content-Type: application/json\r\n";
    return Ask("POST", "/api/v1/jobs/train/profile?seconds=1", headers + json, "{}").status;
  };
  EXPECT_EQ(open(""), 401) << "also from the same user on the same machine";
  EXPECT_EQ(open(Bearer(kBob)), 403);
  EXPECT_EQ(open(Bearer(kAnn) + "Origin: http://elsewhere\r\n"), 403);
  EXPECT_EQ(open(Bearer(kAnn) + "Origin: null\r\n"), 403);
  EXPECT_EQ(open(Bearer(kAnn) + "Origin: http://localhost\r\n"), 200);
}

TEST_F(LoginServerTest, OnlyAnOperatorSwitchesSourcesAndReadsStacks) {
  FakeAgent agent(collector_->grpc_port(), "n0");
  agent.Hello();
  Feed(agent, 10);
  for (const char* what : {"trace?off=cuda", "stacks"}) {
    const auto ask = [&](const std::string& token) {
      return Ask("POST", std::string("/api/v1/jobs/train/") + what,
                 token + "Content-Type: application/json\r\n", "{}")
          .status;
    };
    EXPECT_EQ(ask(""), 401) << what;
    EXPECT_EQ(ask(Bearer(kBob)), 403) << what;
    EXPECT_EQ(ask(Bearer(kAnn)), 200) << what;
  }
}

// Nobody answers where fathom-cordon should be: what is refused before that is refused here.
TEST_F(LoginServerTest, OnlyAnOperatorFromThePageItselfTellsFathomCordon) {
  collector_.reset();
  CollectorConfig config;
  config.login.token_file = tokens;
  config.cordon_http = "127.0.0.1:1";
  config.cordon_changes = true;
  Start(":memory:", config);
  const std::string json = "Content-Type: application/json\r\n";
  const auto approve = [&](const std::string& headers) {
    return Ask("POST", "/api/v1/actions/a1/approve", headers, "{}");
  };
  EXPECT_EQ(approve(json).status, 401);
  EXPECT_EQ(approve(Bearer("wrong-0123456789") + json).status, 401);
  EXPECT_THAT(approve(Bearer(kBob) + json).body, HasSubstr("bob is a viewer"));
  EXPECT_EQ(approve(Bearer(kBob) + json).status, 403);
  EXPECT_EQ(approve(Bearer(kAnn) + json + "Origin: http://elsewhere\r\n").status, 403);
  EXPECT_EQ(approve(Bearer(kAnn)).status, 415);
  const std::string cookie = std::string("Cookie: fathom_token=") + kAnn + "\r\n";
  for (const std::string& way : {Bearer(kAnn), cookie + "Origin: http://localhost\r\n"}) {
    const RawReply away = approve(way + json);
    EXPECT_EQ(away.status, 503);
    EXPECT_THAT(away.body, HasSubstr("did not answer"));
  }
  const auto you = [&](const std::string& headers) {
    return Ask("GET", "/api/v1/actions", headers).body;
  };
  EXPECT_THAT(you(cookie), HasSubstr(R"("you":{"name":"ann","changes":"on"})"));
  EXPECT_THAT(you(Bearer(kBob)), HasSubstr(R"("you":{"name":"bob","changes":"viewer"})"));
  EXPECT_EQ(Ask("GET", "/api/v1/actions/a1/approve", cookie).status, 404);
}

TEST_F(LoginServerTest, ThePageSignsInByAFormAndKeepsACookie) {
  const std::string form = "Content-Type: application/x-www-form-urlencoded\r\n";
  const RawReply page = Get("/login?at=%23/job/train");
  EXPECT_THAT(page.head, AllOf(HasSubstr("form-action 'self'"), HasSubstr("same-origin")));
  EXPECT_THAT(page.body, HasSubstr("value=\"#/job/train\""));
  EXPECT_EQ(Ask("POST", "/login", form, "token=wrong-0123456789&at=").status, 401);
  EXPECT_EQ(
      Ask("POST", "/login", form + "Origin: http://elsewhere\r\n", std::string("token=") + kBob)
          .status,
      403);
  const RawReply in =
      Ask("POST", "/login", form, std::string("token=") + kBob + "&at=%23%2Fjob%2Ftrain");
  EXPECT_EQ(in.status, 303);
  EXPECT_THAT(in.head,
              AllOf(HasSubstr("Location: ./#/job/train"), HasSubstr("HttpOnly; SameSite=Strict")));
  const std::string cookie = std::string("Cookie: fathom_token=") + kBob + "\r\n";
  EXPECT_EQ(Ask("GET", "/api/v1/jobs", cookie).status, 200);
  EXPECT_THAT(Ask("POST", "/logout", cookie).head, HasSubstr("fathom_token=; Path=/; Max-Age=0"));
}

TEST_F(ServerTest, ErrorsSayWhatToDo) {
  EXPECT_EQ(Get("/api/v1/jobs/nobody").status, 404);
  EXPECT_THAT(Get("/api/v1/jobs/nobody").body, HasSubstr("/api/v1/jobs"));
  EXPECT_EQ(Get("/api/v1/verdicts/v0").status, 404);
  EXPECT_EQ(Get("/api/v2/jobs").status, 404);
  EXPECT_EQ(Get("/api/v1/verdicts?limit=x").status, 400);
  EXPECT_EQ(Get("/%zz").status, 400);
  EXPECT_EQ(Get("/no/such/page").status, 404);
  EXPECT_EQ(HttpGet(collector_->http_port(), "/api/v1/jobs", "localhost", "POST").status, 405);
  FakeAgent agent(collector_->grpc_port(), "n0");
  agent.Hello();
  Feed(agent, 3);
  EXPECT_EQ(Get("/api/v1/jobs/train/iterations?limit=2001").status, 400);
  EXPECT_EQ(Get("/api/v1/jobs/train/iterations?after=now").status, 400);
  EXPECT_EQ(Get("/api/v1/jobs/train/nothing").status, 404);
}

TEST_F(ServerTest, EveryAnswerCarriesSecurityHeadersAndForeignHostsGetNone) {
  for (const char* target : {"/", "/api/v1/jobs", "/metrics", "/nope", "/healthz"}) {
    EXPECT_THAT(Get(target).head, AllOf(HasSubstr("Content-Security-Policy: default-src 'self'"),
                                        HasSubstr("X-Content-Type-Options: nosniff"),
                                        HasSubstr("Referrer-Policy: no-referrer")))
        << target;
  }
  const int port = collector_->http_port();
  EXPECT_EQ(HttpGet(port, "/api/v1/jobs", "attacker.example").status, 403);
  EXPECT_EQ(HttpGet(port, "/api/v1/events", "attacker.example").status, 403);
  EXPECT_EQ(HttpRaw(port, "GET /api/v1/jobs HTTP/1.0\r\n\r\n").status, 403) << "no Host at all";
  EXPECT_EQ(HttpGet(port, "/api/v1/jobs", "localhost:7070").status, 200);
}

TEST_F(ServerTest, ThePageIsCachedByItsTag) {
  const auto page = Get("/");
  EXPECT_EQ(page.status, 200);
  const auto at = page.head.find("ETag: ");
  ASSERT_NE(at, std::string::npos);
  const std::string tag = page.head.substr(at + 6, page.head.find("\r\n", at) - at - 6);
  const auto again = HttpRaw(collector_->http_port(),
                             "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                             "If-None-Match: " +
                                 tag + "\r\n\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
}

TEST_F(ServerTest, TooLargeARequestIsRefusedAndTheServerLives) {
  const auto answer =
      HttpRaw(collector_->http_port(), "GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n");
  EXPECT_NE(answer.status, 200);
  EXPECT_NE(HttpRaw(collector_->http_port(), std::string(3000, '\0')).status, 200);
  EXPECT_EQ(Get("/healthz").status, 200);
}

TEST_F(ServerTest, ListenersOfEventsAreBoundedAndLeaveWhenItStops) {
  std::vector<std::unique_ptr<EventReader>> readers;
  for (int i = 0; i < 4; ++i) {
    readers.push_back(std::make_unique<EventReader>(collector_->http_port(), "/api/v1/events"));
    ASSERT_TRUE(readers.back()->Wait("retry:"));
  }
  EXPECT_EQ(Get("/api/v1/events").status, 503);
  collector_.reset();
  for (const auto& reader : readers) EXPECT_TRUE(reader->WaitOver());
}

}  // namespace
}  // namespace fathom::collector
