#include "collector/store/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "collector/store/database/schema.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;

Episode Sample(const std::string& id, std::int64_t opened = 100) {
  Episode episode;
  episode.id = id;
  episode.job = "train";
  episode.opened = WallNs(opened);
  episode.updated = WallNs(opened + 1);
  episode.seen = WallNs(opened + 3);
  episode.authenticated = true;
  auto& verdict = episode.verdict;
  verdict.grade = diagnosis::Grade::kEstablished;
  verdict.cause = diagnosis::Cause::kGc;
  verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
  verdict.owner = diagnosis::Owner::kAlgorithm;
  verdict.entity.ranks = {RankId(3), RankId(4)};
  verdict.entity.node = "n0";
  verdict.sentence = "Rank 3 \"collects\"\tgarbage";
  verdict.since_iteration = Iteration(77);
  verdict.since_time = WallNs(99);
  verdict.cost = {1.5, 0.25, 3};
  verdict.victims = {RankId(0)};
  verdict.evidence = {{"it is late", 12.5, "ms", 1.5, "communication_ops"}};
  verdict.counter_evidence = {{"but", 1, "", 2, "x"}};
  verdict.would_change = {"a trace"};
  verdict.action_text = "look";
  verdict.action_command = "py-spy dump";
  return episode;
}

// Not `"v" + std::to_string(n)`: GCC 12 warns of an overlap there that is none.
std::string Numbered(std::int64_t n) { return std::string("v").append(std::to_string(n)); }

struct StoreTest : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("fathom-store-" + std::to_string(getpid()));
  std::string file = (folder / "deep" / "fathom.db").string();
  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }
};

TEST_F(StoreTest, AVerdictComesBackAsItWas) {
  {
    const auto store = Store::Open(file);
    EXPECT_EQ(store->degraded(), "");
    ASSERT_TRUE(store->Save(Sample("v1")).ok());
  }
  const auto store = Store::Open(file);
  const auto back = store->Find("v1");
  ASSERT_TRUE(back);
  const Episode want = Sample("v1");
  EXPECT_EQ(back->verdict.sentence, want.verdict.sentence);
  EXPECT_EQ(back->verdict.cause, want.verdict.cause);
  EXPECT_EQ(back->verdict.problem, want.verdict.problem);
  EXPECT_EQ(back->verdict.owner, want.verdict.owner);
  EXPECT_EQ(back->verdict.entity.ranks, want.verdict.entity.ranks);
  EXPECT_EQ(back->verdict.victims, want.verdict.victims);
  EXPECT_EQ(back->verdict.evidence[0].value, 12.5);
  EXPECT_EQ(back->verdict.counter_evidence[0].reference, 2);
  EXPECT_EQ(back->verdict.would_change, want.verdict.would_change);
  EXPECT_EQ(back->verdict.action_command, "py-spy dump");
  EXPECT_EQ(back->verdict.since_iteration, Iteration(77));
  EXPECT_EQ(back->verdict.cost.gpu_hours, 3);
  EXPECT_EQ(back->opened, WallNs(100));
  EXPECT_EQ(back->seen, WallNs(103));
  EXPECT_TRUE(back->authenticated);
  EXPECT_TRUE(back->open());
  EXPECT_FALSE(store->Find("v2"));
}

TEST_F(StoreTest, ListsNewestFirstByJobAndByBeingOpen) {
  const auto store = Store::Open(":memory:");
  for (int i = 0; i < 5; ++i) {
    Episode episode = Sample(Numbered(i), 100 + i);
    if (i == 2) episode.closed = WallNs(500), episode.closed_because = "recovered";
    if (i == 4) episode.job = "other";
    ASSERT_TRUE(store->Save(episode).ok());
  }
  EXPECT_EQ(store->Verdicts("", false, 100).size(), 5u);
  EXPECT_EQ(store->Verdicts("", false, 100)[0].id, "v4");
  EXPECT_EQ(store->Verdicts("train", false, 100)[0].id, "v3");
  EXPECT_EQ(store->Verdicts("train", true, 100).size(), 3u);
  EXPECT_EQ(store->Verdicts("train", false, 2).size(), 2u);
  EXPECT_EQ(store->Verdicts("train", false, 100)[1].closed_because, "recovered");
  EXPECT_TRUE(store->Verdicts("' OR 1=1 --", false, 100).empty());
}

TEST_F(StoreTest, JobsKeepTheirReport) {
  const auto store = Store::Open(":memory:");
  ASSERT_TRUE(store->Save({"train", 4, 4, 1, WallNs(1), WallNs(2), 150, "{\"a\":1}"}).ok());
  EXPECT_EQ(store->FindJob("train")->report_json, "{\"a\":1}");
  EXPECT_FALSE(store->FindJob("other"));
}

Episode Convicting(const std::string& id, const std::string& job, std::int64_t opened) {
  Episode episode = Sample(id, opened);
  episode.job = job;
  episode.verdict.cause = diagnosis::Cause::kComputeSlow;
  return episode;
}

TEST_F(StoreTest, ANodeIsHeldToAccountOncePerJobForWhatIsItsOwn) {
  const auto store = Store::Open(":memory:");
  std::vector<Episode> episodes = {Convicting("v1", "a", 100),  Convicting("v2", "a", 110),
                                   Convicting("v3", "b", 120),  Convicting("v4", "c", 130),
                                   Convicting("v5", "d", 140),  Convicting("v6", "e", 150),
                                   Convicting("v7", "old", 10), Convicting("v8", "f", 160)};
  episodes[3].verdict.cause = diagnosis::Cause::kGc;         // follows the script
  episodes[4].verdict.grade = diagnosis::Grade::kSupported;  // not sure enough
  episodes[5].superseded = true;                             // fathom changed its mind
  episodes[7].verdict.entity.node = "n1";
  for (const Episode& episode : episodes) ASSERT_TRUE(store->Save(episode).ok());
  const NodeRecords records = store->NodeRecordsSince(WallNs(50));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records.at("n0").convicted_jobs, 2);
  EXPECT_EQ(records.at("n0").last_convicted, WallNs(120));
  EXPECT_EQ(records.at("n1").convicted_jobs, 1);
  EXPECT_EQ(store->NodeRecordsSince(WallNs(5)).at("n0").convicted_jobs, 3);
  EXPECT_EQ(store->VerdictsOnNode("n0", 100).size(), 7u);
  EXPECT_EQ(store->VerdictsOnNode("n0", 1)[0].id, "v6");
  EXPECT_TRUE(store->VerdictsOnNode("", 100).empty());
}

TEST_F(StoreTest, VerdictsOfAnEarlierFathomCountToo) {
  { ASSERT_TRUE(Store::Open(file)->Save(Convicting("v1", "a", 100)).ok()); }
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(db,
                   "DROP INDEX verdicts_by_node; ALTER TABLE verdicts DROP COLUMN node;"
                   "ALTER TABLE verdicts DROP COLUMN seen_ns;"
                   "ALTER TABLE verdicts DROP COLUMN authenticated;"
                   "DROP TABLE learnt; DROP TABLE notices; DROP TABLE runs; DROP TABLE "
                   "accounts; DROP TABLE run_times; DROP TABLE probes; DROP TABLE recoveries; "
                   "PRAGMA user_version=2",
                   nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(db);
  const auto store = Store::Open(file);
  EXPECT_EQ(store->degraded(), "");
  EXPECT_EQ(store->NodeRecordsSince(WallNs(1)).at("n0").convicted_jobs, 1);
  EXPECT_EQ(store->VerdictsOnNode("n0", 9).size(), 1u);
}

TEST_F(StoreTest, HistoryIsBoundedAndOpenVerdictsStay) {
  const auto store = Store::Open(":memory:");
  Episode open = Sample("open", 1);
  ASSERT_TRUE(store->Save(open).ok());
  for (std::int64_t i = 0; i < Store::kMaxVerdicts + 200; ++i) {
    Episode episode = Sample(Numbered(i), 100 + i);
    episode.closed = WallNs(1);
    ASSERT_TRUE(store->Save(episode).ok());
  }
  const auto all = store->Verdicts("", false, 1'000'000);
  EXPECT_LE(all.size(), static_cast<std::size_t>(Store::kMaxVerdicts) + 65);
  EXPECT_TRUE(store->Find("open"));
  EXPECT_FALSE(store->Find("v0"));
}

TEST_F(StoreTest, AFileOfTheFirstSchemaIsBroughtUpToDate) {
  fs::create_directories(folder / "deep");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  const char* old =
      "CREATE TABLE verdicts(id TEXT PRIMARY KEY, job TEXT NOT NULL, opened_ns INTEGER NOT NULL,"
      " updated_ns INTEGER NOT NULL, closed_ns INTEGER NOT NULL, active INTEGER NOT NULL,"
      " grade TEXT NOT NULL, cause TEXT NOT NULL, message BLOB NOT NULL) WITHOUT ROWID;"
      "CREATE TABLE jobs(name TEXT PRIMARY KEY, ranks INTEGER NOT NULL, world_size INTEGER NOT "
      "NULL, nodes INTEGER NOT NULL, started_ns INTEGER NOT NULL, last_seen_ns INTEGER NOT NULL,"
      " iterations INTEGER NOT NULL) WITHOUT ROWID;"
      "INSERT INTO verdicts VALUES('old', 'train', 5, 5, 6, 0, 'supported', 'gc', x'');"
      "PRAGMA user_version=1;";
  ASSERT_EQ(sqlite3_exec(db, old, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  const auto store = Store::Open(file);
  EXPECT_EQ(store->degraded(), "");
  EXPECT_TRUE(store->Find("old"));
  EXPECT_TRUE(store->Save({"train", 4, 4, 1, WallNs(1), WallNs(2), 150, "{}"}).ok());
}

TEST_F(StoreTest, AFileOfALaterFathomIsLeftAlone) {
  {
    auto database = (fs::create_directories(folder / "deep"), Database::Open(file));
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->Execute("PRAGMA user_version=99").ok());
  }
  const auto store = Store::Open(file);
  EXPECT_NE(store->degraded().find("later fathom"), std::string::npos) << store->degraded();
}

TEST_F(StoreTest, ADamagedFileIsNamedLeftAloneAndWorkGoesOnInMemory) {
  fs::create_directories(folder / "deep");
  const std::string rubbish(8192, 'x');
  std::ofstream(file) << rubbish;
  const auto store = Store::Open(file);
  EXPECT_NE(store->degraded().find(file), std::string::npos) << store->degraded();
  EXPECT_TRUE(store->Save(Sample("v1")).ok());
  EXPECT_TRUE(store->Find("v1"));
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), rubbish);
}

TEST_F(StoreTest, APageThatWasOverwrittenIsFound) {
  {
    const auto store = Store::Open(file);
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(store->Save(Sample(Numbered(i))).ok());
  }
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(4096 * 3);
  out << std::string(4096, '\x7f');
  out.close();
  const auto store = Store::Open(file);
  EXPECT_NE(store->degraded().find("damaged"), std::string::npos) << store->degraded();
}

TEST_F(StoreTest, AnUnwritablePlaceIsNamed) {
  const auto store = Store::Open("/proc/fathom/fathom.db");
  EXPECT_NE(store->degraded().find("/proc/fathom/fathom.db"), std::string::npos);
  EXPECT_TRUE(store->Save(Sample("v1")).ok());
}

// The disk is full from here on, as SQLite sees it.
void Fill(const std::string& file, bool full) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  const char* refuse =
      "CREATE TRIGGER full BEFORE INSERT ON verdicts BEGIN SELECT RAISE(ABORT, 'disk full'); END;"
      "CREATE TRIGGER full2 BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, 'disk full'); END";
  const char* accept = "DROP TRIGGER full; DROP TRIGGER full2";
  ASSERT_EQ(sqlite3_exec(db, full ? refuse : accept, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
}

TEST_F(StoreTest, WhatCouldNotBeWrittenIsReadAndWrittenOnceThereIsRoom) {
  const auto store = Store::Open(file);
  ASSERT_TRUE(store->Save(Sample("v1", 100)).ok());
  Fill(file, true);
  Episode closed = Sample("v1", 100);
  closed.closed = WallNs(500);
  closed.closed_because = "recovered";
  EXPECT_FALSE(store->Save(closed).ok());
  EXPECT_FALSE(store->Save(Sample("v2", 200)).ok());
  EXPECT_FALSE(store->Save({"train", 4, 4, 1, WallNs(1), WallNs(2), 150, "{}"}).ok());
  EXPECT_EQ(store->unwritten(), 3u);
  EXPECT_FALSE(store->Find("v1")->open());
  ASSERT_EQ(store->Verdicts("", true, 10).size(), 1u);
  EXPECT_EQ(store->Verdicts("", true, 10)[0].id, "v2");
  EXPECT_EQ(store->Verdicts("", false, 10).size(), 2u);
  EXPECT_EQ(store->Verdicts("", false, 1)[0].id, "v2");
  EXPECT_EQ(store->VerdictsOnNode("n0", 10).size(), 2u);
  EXPECT_TRUE(store->FindJob("train"));
  store->Upkeep();
  EXPECT_NE(store->degraded().find("3 verdicts and jobs wait"), std::string::npos);
  Fill(file, false);
  store->Upkeep();
  EXPECT_EQ(store->degraded(), "");
  EXPECT_EQ(store->unwritten(), 0u);
  auto database = Database::Open(file);
  ASSERT_TRUE(database.ok());
  Statement rows = (*database)->Prepare("SELECT active FROM verdicts ORDER BY id");
  ASSERT_TRUE(rows.Step());
  EXPECT_EQ(rows.Integer(0), 0);
  ASSERT_TRUE(rows.Step());
  EXPECT_EQ(rows.Integer(0), 1);
}

TEST_F(StoreTest, ASecondWriterIsRefusedAndTakesTheFileWhenTheFirstIsGone) {
  auto first = Store::Open(file);
  ASSERT_TRUE(first->Save(Sample("v1")).ok());
  const auto second = Store::Open(file);
  EXPECT_NE(second->degraded().find("another collector writes it"), std::string::npos);
  ASSERT_TRUE(second->Save(Sample("v2")).ok());
  EXPECT_FALSE(first->Find("v2"));
  EXPECT_TRUE(second->Upkeep().empty());
  first.reset();
  const auto adopt = second->Upkeep();
  EXPECT_EQ(second->degraded(), "");
  ASSERT_EQ(adopt.size(), 1u);
  EXPECT_EQ(adopt[0].id, "v1");
  EXPECT_EQ(second->Verdicts("", true, 10).size(), 2u);
}

TEST_F(StoreTest, AFileThatWasDeletedIsWrittenAnewAndOneThatWasReplacedIsTold) {
  auto store = Store::Open(file);
  ASSERT_TRUE(store->Save(Sample("v1")).ok());
  fs::remove(file);
  store->Upkeep();
  EXPECT_EQ(store->degraded(), "");
  EXPECT_TRUE(fs::exists(file));
  ASSERT_TRUE(store->Save(Sample("v2")).ok());
  EXPECT_EQ(store->Verdicts("", true, 10).size(), 2u);
  store.reset();
  store = Store::Open(file);
  EXPECT_EQ(store->degraded(), "");
  EXPECT_EQ(store->Verdicts("", true, 10).size(), 2u);
  std::ofstream(file + ".other") << "other";
  fs::rename(file + ".other", file);
  store->Upkeep();
  EXPECT_NE(store->degraded().find("another file took its place"), std::string::npos);
}

TEST_F(StoreTest, OthersMayNotReadIt) {
  const mode_t before = umask(0);
  auto store = Store::Open(file);
  ASSERT_TRUE(store->Save(Sample("v1")).ok());
  for (const char* part : {"", "-wal", "-shm", ".lock"}) {
    struct stat now {};
    ASSERT_EQ(stat((file + part).c_str(), &now), 0) << part;
    EXPECT_EQ(now.st_mode & 0777, 0600u) << part;
  }
  store.reset();
  fs::permissions(file, fs::perms(0644));
  store = Store::Open(file);
  umask(before);
  struct stat now {};
  ASSERT_EQ(stat(file.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 0777, 0640u);
}

TEST_F(StoreTest, AWriteThatFailsLaterIsCountedAndTold) {
  const auto store = Store::Open(file);
  ASSERT_TRUE(store->Save(Sample("v1")).ok());
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "DROP TABLE verdicts", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  EXPECT_FALSE(store->Save(Sample("v2")).ok());
  EXPECT_EQ(store->errors(), 1u);
  EXPECT_NE(store->degraded().find(file), std::string::npos);
}

}  // namespace
}  // namespace fathom::collector
