#include "collector/store/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "collector/store/schema.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;

Episode Sample(const std::string& id, std::int64_t opened = 100) {
  Episode episode;
  episode.id = id;
  episode.job = "train";
  episode.opened = WallNs(opened);
  episode.updated = WallNs(opened + 1);
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
  ASSERT_EQ(sqlite3_exec(db,
                         "DROP INDEX verdicts_by_node; ALTER TABLE verdicts DROP COLUMN node;"
                         "DROP TABLE learnt; PRAGMA user_version=2",
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
