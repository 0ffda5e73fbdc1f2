// The history is the same wherever it lies: in memory, in a file, on a PostgreSQL server.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>

#include "collector/store/store.h"
#include "fathom/v1/probe.pb.h"
#include "tests/collector/store/postgres_server.h"

namespace fathom::collector {
namespace {

Episode Sample(const std::string& id, std::int64_t opened = 100, const std::string& job = "train") {
  Episode episode;
  episode.id = id;
  episode.job = job;
  episode.opened = WallNs(opened);
  episode.updated = WallNs(opened + 1);
  episode.seen = WallNs(opened + 3);
  episode.authenticated = true;
  episode.verdict.grade = diagnosis::Grade::kEstablished;
  episode.verdict.cause = diagnosis::Cause::kComputeSlow;
  episode.verdict.entity.ranks = {RankId(3)};
  episode.verdict.entity.node = "n0";
  episode.verdict.sentence = "Rank 3 \"computes\"\tmore; it's ü";
  episode.verdict.since_iteration = Iteration(77);
  return episode;
}

RunRecord RunFrom(const std::string& id, std::int64_t started) {
  RunRecord run;
  run.id = id;
  run.job = "train";
  run.started = WallNs(started);
  run.last_seen = WallNs(started + 50);
  run.iterations = 10;
  run.ranks = 4;
  return run;
}

// One server for all tests, a database for each.
struct HistoryTest : testing::TestWithParam<std::string> {
  static void TearDownTestSuite() { server.reset(); }
  static std::unique_ptr<PostgresServer> server;
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("fathom-history-" + std::to_string(getpid()));
  std::string place;

  void SetUp() override {
    std::filesystem::remove_all(folder);
    place = GetParam() == "memory" ? ":memory:" : (folder / "fathom.db").string();
    if (GetParam() != "postgres") return;
    if (server == nullptr) server = std::make_unique<PostgresServer>();
    if (!server->reason().empty()) GTEST_SKIP() << server->reason();
    place = server->Database();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  bool shared() const { return GetParam() == "postgres"; }
  bool lasts() const { return GetParam() != "memory"; }
};
std::unique_ptr<PostgresServer> HistoryTest::server;

TEST_P(HistoryTest, VerdictsComeBackAsTheyWere) {
  auto store = Store::Open(place);
  ASSERT_EQ(store->degraded(), "");
  ASSERT_TRUE(store->Save(Sample("v1")).ok());
  Episode changed = Sample("v1");
  changed.verdict.sentence = "another";
  ASSERT_TRUE(store->Save(Sample("v2", 200, "other")).ok());
  ASSERT_TRUE(store->Save(changed).ok());
  if (lasts()) store.reset(), store = Store::Open(place);
  const auto back = store->Find("v1");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->verdict.sentence, "another");
  EXPECT_EQ(back->opened, WallNs(100));
  EXPECT_EQ(back->seen, WallNs(103));
  EXPECT_TRUE(back->authenticated);
  EXPECT_TRUE(back->open());
  EXPECT_EQ(store->Find("v2")->verdict.sentence, Sample("v2").verdict.sentence);
  EXPECT_FALSE(store->Find("v3"));
}

TEST_P(HistoryTest, VerdictsAreListedByJobNodeAndTime) {
  const auto store = Store::Open(place);
  for (int i = 0; i < 5; ++i) {
    Episode episode =
        Sample(std::string("v").append(std::to_string(i)), 100 + i, i == 4 ? "other" : "train");
    if (i == 2) episode.closed = WallNs(500);
    if (i == 3) episode.superseded = true;
    ASSERT_TRUE(store->Save(episode).ok());
  }
  EXPECT_EQ(store->Verdicts("", false, 100).size(), 5u);
  EXPECT_EQ(store->Verdicts("", false, 100)[0].id, "v4");
  EXPECT_EQ(store->Verdicts("train", true, 100).size(), 3u);
  EXPECT_EQ(store->Verdicts("train", false, 2).size(), 2u);
  EXPECT_TRUE(store->Verdicts("' OR 1=1 --", false, 100).empty());
  EXPECT_EQ(store->VerdictsOnNode("n0", 100).size(), 5u);
  EXPECT_EQ(store->VerdictsSince(WallNs(600)).size(), 3u);
  EXPECT_EQ(store->NodeRecordsSince(WallNs(1)).at("n0").convicted_jobs, 2);
  EXPECT_FALSE(store->VerdictsReachBackTo().known());
}

TEST_P(HistoryTest, JobsLearntAccountsAndNoticesAreKept) {
  const auto store = Store::Open(place);
  ASSERT_TRUE(store->Save({"train", 4, 4, 1, WallNs(1), WallNs(2), 150, "{\"a\":1}"}).ok());
  ASSERT_TRUE(store->Save({"train", 8, 8, 2, WallNs(1), WallNs(3), 160, "{\"a\":2}"}).ok());
  EXPECT_EQ(store->FindJob("train")->report_json, "{\"a\":2}");
  EXPECT_EQ(store->FindJob("train")->ranks, 8u);
  Learnt learnt;
  learnt.kept = WallNs(9);
  learnt.life = {7, 8};
  ASSERT_TRUE(store->Save("train", learnt).ok());
  ASSERT_TRUE(store->FindLearnt("train"));
  EXPECT_EQ(store->FindLearnt("train")->life, learnt.life);
  const std::string bytes("a\0b\xff", 4);
  ASSERT_TRUE(store->KeepAccount("train", WallNs(5), bytes).ok());
  EXPECT_EQ(store->FindAccount("train"), bytes);
  ASSERT_TRUE(store->ForgetAccount("train").ok());
  EXPECT_FALSE(store->FindAccount("train"));
  ASSERT_TRUE(store->Keep({"slack", "v1", true, bytes}).ok());
  ASSERT_TRUE(store->Keep({"slack", "v1", false, "later"}).ok());
  ASSERT_EQ(store->KeptNotices().size(), 1u);
  EXPECT_EQ(store->KeptNotices()[0].message, "later");
  EXPECT_FALSE(store->KeptNotices()[0].waits);
  ASSERT_TRUE(store->ForgetNotice("slack", "v1").ok());
  EXPECT_TRUE(store->KeptNotices().empty());
}

TEST_P(HistoryTest, RunsAndProbesAreKept) {
  const auto store = Store::Open(place);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(store->Save(RunFrom(std::string("r").append(std::to_string(i)), i)).ok());
  }
  EXPECT_EQ(store->Runs("", 5)[0].id, "r39");
  EXPECT_EQ(store->Runs("train", 100).size(), store->Runs("", 100).size());
  EXPECT_TRUE(store->FindRun("r39"));
  EXPECT_EQ(store->RunTimesSince(WallNs(0)).size(), 40u);
  EXPECT_EQ(store->RunTimesSince(WallNs(85)).size(), 5u);
  v1::NodeProbe probe;
  probe.set_node("n0");
  for (int i = 0; i < 60; ++i) {
    probe.set_began_wall_ns(i);
    ASSERT_TRUE(store->SaveProbe(probe).ok());
  }
  EXPECT_EQ(store->Probes("n0", 1)[0].began_wall_ns(), 59);
  EXPECT_EQ(store->Probes("", 1000).size(), static_cast<std::size_t>(Store::kMaxProbesOfNode));
}

TEST_P(HistoryTest, RecordsOfRecoveriesAreKept) {
  const auto told = [](const char* id, const char* job, std::int64_t begun, const char* state) {
    ToldRecovery recovery;
    recovery.id = id;
    recovery.job = job;
    recovery.state = state;
    recovery.said = "it's \"back\", ü";
    recovery.times.begun_ns = recovery.told_ns = begun;
    return recovery;
  };
  auto store = Store::Open(place);
  ASSERT_TRUE(store->Save(told("r1", "train", 100, "under way")).ok());
  ASSERT_TRUE(store->Save(told("r2", "other", 200, "given up")).ok());
  ASSERT_TRUE(store->Save(told("r3", "train", 300, "undone")).ok());
  ASSERT_TRUE(store->Save(told("r1", "train", 100, "recovered")).ok());
  if (lasts()) {
    store.reset();
    store = Store::Open(place);
  }
  const auto of_job = store->Recoveries("train", 10);
  ASSERT_EQ(of_job.size(), 2u);
  EXPECT_EQ(of_job[0].id, "r3");
  EXPECT_EQ(of_job[1].state, "recovered");
  EXPECT_EQ(of_job[1].said, "it's \"back\", ü");
  EXPECT_EQ(store->RecoveriesSince(WallNs(200)).size(), 2u);
}

TEST_P(HistoryTest, TablesOfAnEarlierFathomGetWhatIsNew) {
  if (!shared()) GTEST_SKIP() << "of a server only; of files store_test";
  { ASSERT_TRUE(Store::Open(place)->Save(Sample("v1")).ok()); }
  ASSERT_TRUE(server->Sql(server->newest(),
                          "DROP TABLE fathom.recoveries; UPDATE fathom.version SET number = 1"));
  const auto store = Store::Open(place);
  EXPECT_EQ(store->degraded(), "");
  EXPECT_TRUE(store->Find("v1"));
  EXPECT_TRUE(store->Recoveries("", 10).empty());
}

TEST_P(HistoryTest, AFormerOwnerIsRefused) {
  const auto store = Store::Open(place);
  ASSERT_TRUE(store->Fence("train", 5).ok());
  ASSERT_TRUE(store->Save(Sample("v1")).ok());
  // In one store the later owner's token is seen at once; on a server it is another's.
  const auto other = shared() ? Store::Open(place) : nullptr;
  Store& later = other ? *other : *store;
  ASSERT_TRUE(later.Fence("train", 9).ok());
  EXPECT_TRUE(later.Save(Sample("v2")).ok());
  EXPECT_TRUE(absl::IsAborted(store->Fence("train", 5)));
  EXPECT_TRUE(absl::IsAborted(store->Save(Sample("v3"))));
  EXPECT_TRUE(absl::IsAborted(store->Save("train", Learnt())));
  EXPECT_TRUE(absl::IsAborted(store->KeepAccount("train", WallNs(1), "x")));
  EXPECT_TRUE(absl::IsAborted(store->Save(RunFrom("r1", 1))));
  EXPECT_GE(store->refused(), 5u);
  // It is neither tried again nor a fault of the store, and other jobs are written.
  EXPECT_EQ(store->unwritten(), 0u);
  EXPECT_EQ(store->degraded(), "");
  EXPECT_TRUE(store->Save(Sample("v4", 1, "other")).ok());
  EXPECT_FALSE(later.Find("v3"));
  EXPECT_TRUE(later.Find("v4"));
}

TEST_P(HistoryTest, AServerThatIsAwayIsWaitedFor) {
  if (!shared()) GTEST_SKIP() << "of a server only";
  const auto store = Store::Open(place);
  ASSERT_TRUE(store->Fence("train", 5).ok());
  ASSERT_TRUE(store->Save(Sample("v1")).ok());
  server->Stop();
  EXPECT_FALSE(store->Save(Sample("v2")).ok());
  EXPECT_EQ(store->unwritten(), 1u);
  EXPECT_NE(store->degraded(), "");
  EXPECT_TRUE(store->Find("v2"));
  // Whoever becomes owner now must know that nothing can be taken up.
  EXPECT_TRUE(absl::IsUnavailable(store->Fence("train", 6)));
  EXPECT_TRUE(absl::IsUnavailable(Store::Open(place)->Fence("train", 7)));
  server->Start();
  // Without Upkeep, which comes seldom.
  absl::Status back;
  for (int i = 0; i < 100 && !(back = store->Fence("train", 8)).ok(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(back.ok()) << back;
  for (int i = 0; i < 100 && store->unwritten() > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    store->Upkeep();
  }
  EXPECT_EQ(store->unwritten(), 0u);
  EXPECT_EQ(store->degraded(), "");
  EXPECT_TRUE(Store::Open(place)->Find("v2"));
}

TEST_P(HistoryTest, WhatCannotBeReadIsNotTakenForNothing) {
  if (!shared()) GTEST_SKIP() << "of a server only";
  const auto store = Store::Open(place);
  ASSERT_TRUE(store->Save(Sample("v1")).ok());
  EXPECT_EQ(store->Verdicts("", false, 10).size(), 1u);
  EXPECT_EQ(store->lacks(), "");
  server->Stop();
  EXPECT_TRUE(store->Verdicts("", false, 10).empty());
  EXPECT_NE(store->unread(), "");
  EXPECT_EQ(store->lacks(), store->unread());
  EXPECT_TRUE(store->VerdictsOnNode("n0", 10).empty());
  EXPECT_FALSE(store->Find("v1"));
  EXPECT_NE(store->unread(), "");
  server->Start();
  for (int i = 0; i < 100 && store->Verdicts("", false, 10).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    store->Upkeep();
  }
  EXPECT_EQ(store->Verdicts("", false, 10).size(), 1u);
  EXPECT_EQ(store->unread(), "");
}

TEST_P(HistoryTest, AServerThatOnlyReadsIsTold) {
  if (!shared()) GTEST_SKIP() << "of a server only";
  { ASSERT_EQ(Store::Open(place)->degraded(), ""); }
  ASSERT_TRUE(server->Sql(server->newest(), "ALTER DATABASE " + server->newest() +
                                                " SET default_transaction_read_only TO on"));
  const auto store = Store::Open(place);
  EXPECT_EQ(store->degraded(), "");
  EXPECT_FALSE(store->Save(Sample("v1")).ok());
  EXPECT_NE(store->degraded().find("read-only"), std::string::npos) << store->degraded();
  EXPECT_EQ(store->unwritten(), 1u);
  EXPECT_GE(store->errors(), 1u);
}

TEST_P(HistoryTest, TablesOfALaterVersionAreLeftAlone) {
  if (!shared()) GTEST_SKIP() << "of a server only";
  { ASSERT_TRUE(Store::Open(place)->Save(Sample("v1")).ok()); }
  ASSERT_TRUE(server->Sql(server->newest(), "UPDATE fathom.version SET number = 99"));
  const auto store = Store::Open(place);
  EXPECT_NE(store->degraded().find("a later fathom"), std::string::npos) << store->degraded();
  EXPECT_TRUE(store->Save(Sample("v2")).ok());  // in memory
}

TEST_P(HistoryTest, APasswordIsNotTold) {
  if (!shared()) GTEST_SKIP() << "of a server only";
  const auto store = Store::Open("postgresql://ann:geheim@127.0.0.1:1/x?password=secret");
  EXPECT_NE(store->degraded(), "");
  EXPECT_EQ(store->degraded().find("geheim"), std::string::npos) << store->degraded();
  EXPECT_EQ(store->degraded().find("secret"), std::string::npos) << store->degraded();
}

INSTANTIATE_TEST_SUITE_P(Everywhere, HistoryTest, testing::Values("memory", "file", "postgres"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace fathom::collector
