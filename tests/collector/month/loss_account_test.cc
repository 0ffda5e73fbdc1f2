// What was used and lost over weeks, on runs and verdicts whose every hour is known.
#include "collector/month/loss_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "collector/month/loss_json.h"
#include "collector/store/store.h"

namespace fathom::collector {
namespace {

constexpr double kExact = 1e-9;
constexpr std::int64_t kHour = 3600LL * 1'000'000'000;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kNow = 20'000 * kDay;

WallNs DaysAgo(double days) {
  return WallNs(kNow - static_cast<std::int64_t>(days * static_cast<double>(kDay)));
}

RunTime Held(const std::string& job, const std::string& team, double from, double to,
             std::uint32_t ranks) {
  return {"r" + job, job, team, DaysAgo(from), DaysAgo(to), ranks};
}

Episode Lost(const std::string& id, const std::string& job, double hours, double from, double to) {
  Episode episode;
  episode.id = id;
  episode.job = job;
  episode.verdict.grade = diagnosis::Grade::kEstablished;
  episode.verdict.cause = diagnosis::Cause::kDataLoader;
  episode.verdict.owner = diagnosis::Owner::kInfrastructure;
  episode.verdict.cost.gpu_hours = hours;
  episode.verdict.since_time = DaysAgo(from);
  episode.opened = DaysAgo(from);
  if (to > 0) episode.closed = DaysAgo(to);
  return episode;
}

LossAccount Month(const std::vector<RunTime>& runs, const std::vector<Episode>& verdicts,
                  const std::vector<ToldRecovery>& recoveries = {}) {
  return LossesOf(runs, verdicts, recoveries, DaysAgo(30), WallNs(kNow));
}

double SumOf(const std::vector<LossSum>& sums, double LossSum::*field) {
  double sum = 0;
  for (const LossSum& each : sums) sum += each.*field;
  return sum;
}

TEST(LossAccountTest, ARunIsUsedInEachOfItsWeeks) {
  // From 10 to 5 days ago: three days of the second-newest week, two of the newest.
  const LossAccount account = Month({Held("train", "vision", 10, 5, 8)}, {});
  EXPECT_NEAR(account.used_h, 5 * 24 * 8, kExact);
  ASSERT_EQ(account.by_week.size(), 2u);
  EXPECT_EQ(account.by_week[0].week, DaysAgo(14));
  EXPECT_NEAR(account.by_week[0].used_h, 3 * 24 * 8, kExact);
  EXPECT_NEAR(account.by_week[1].used_h, 2 * 24 * 8, kExact);
  EXPECT_EQ(account.by_team[0].key, "vision");
}

TEST(LossAccountTest, WhatARecoveryCostsIsACauseOfItsOwn) {
  ToldRecovery recovery;
  recovery.id = "r1";
  recovery.job = "train";
  recovery.node = "n3";
  recovery.state = "recovered";
  recovery.told_ns = DaysAgo(1).ns;
  recovery.times.processes = 8;
  recovery.times.begun_ns = recovery.times.first_step_ns = recovery.times.isolating_ns =
      DaysAgo(2).ns;
  recovery.times.isolated_ns = DaysAgo(2).ns + kHour / 2;
  recovery.times.running_ns = DaysAgo(2).ns + kHour;
  recovery.times.stood_still = true;
  recovery.times.plan_lost_work_s = 7200;
  const LossAccount account = Month({Held("train", "vision", 10, 0, 8)}, {}, {recovery});
  EXPECT_NEAR(account.lost_h, 8 * (1 + 2), kExact) << "an hour it stood, two were done anew";
  ASSERT_EQ(account.by_cause.size(), 1u);
  EXPECT_EQ(account.by_cause[0].key, kRecoveryCause);
  EXPECT_EQ(account.by_cause[0].owner, "operations");
  EXPECT_EQ(account.by_node[0].key, "n3");
  EXPECT_EQ(account.by_team[0].key, "vision");
  EXPECT_NEAR(account.by_team[0].lost_h, 24, kExact);
  EXPECT_EQ(account.recoveries.count, 1u);
  const auto json = nlohmann::json::parse(LossJson(account, {}, {}, WallNs()));
  EXPECT_EQ(json["recoveries"]["recovered"], 1);
  EXPECT_EQ(json["recoveries"]["stages"][3]["stage"], "restart");
  EXPECT_NEAR(json["recoveries"]["stages"][3]["minutes"].get<double>(), 30, kExact);
  EXPECT_NEAR(json["recoveries"]["stages"][3]["gpu_hours"].get<double>(), 4, kExact);
}

TEST(LossAccountTest, WhatLiesBeforeTheTimeAskedForIsLeftOut) {
  const LossAccount account =
      Month({Held("train", "", 40, 20, 4)}, {Lost("v1", "train", 100, 40, 20)});
  EXPECT_NEAR(account.used_h, 10 * 24 * 4, kExact);
  EXPECT_NEAR(account.lost_h, 50, kExact);  // half of the verdict's life
  EXPECT_EQ(account.by_team[0].key, "(no team)");
}

TEST(LossAccountTest, AVerdictOverTwoWeeksIsOneVerdictAndItsCostIsSpread) {
  const LossAccount account =
      Month({Held("train", "", 10, 4, 100)}, {Lost("v1", "train", 60, 10, 4)});
  EXPECT_NEAR(account.by_week[0].lost_h, 30, kExact);
  EXPECT_NEAR(account.by_week[1].lost_h, 30, kExact);
  ASSERT_EQ(account.by_cause.size(), 1u);
  EXPECT_EQ(account.by_cause[0].key, "dataloader");
  EXPECT_EQ(account.by_cause[0].owner, "infrastructure");
  EXPECT_EQ(account.by_cause[0].verdicts, 1u);
}

TEST(LossAccountTest, EveryTableAddsUpToTheWhole) {
  std::vector<RunTime> runs;
  std::vector<Episode> verdicts;
  for (int i = 0; i < 40; ++i) {
    const std::string job = "job" + std::to_string(i % 7);
    runs.push_back(Held(job, "team" + std::to_string(i % 3), 29 - 0.7 * i, 28 - 0.7 * i, 8));
    verdicts.push_back(Lost("v" + std::to_string(i), job, 1 + i, 28 - 0.6 * i, 27 - 0.6 * i));
    verdicts.back().verdict.entity.node = "n" + std::to_string(i % 5);
    if (i % 2 == 0) verdicts.back().verdict.cause = diagnosis::Cause::kComputeSlow;
  }
  const LossAccount account = Month(runs, verdicts);
  for (const auto* sums :
       {&account.by_week, &account.by_cause, &account.by_node, &account.by_team, &account.by_job}) {
    EXPECT_NEAR(SumOf(*sums, &LossSum::lost_h), account.lost_h, 1e-6);
  }
  EXPECT_NEAR(SumOf(account.by_week, &LossSum::used_h), account.used_h, 1e-6);
  EXPECT_NEAR(SumOf(account.by_job, &LossSum::used_h), account.used_h, 1e-6);
  EXPECT_GE(account.by_node[0].lost_h, account.by_node[1].lost_h);
}

TEST(LossAccountTest, TwoVerdictsOnOneJobCannotCostMoreThanItUsed) {
  const LossAccount account = Month({Held("train", "", 2, 1, 1)},  // 24 GPU-hours
                                    {Lost("v1", "train", 30, 2, 1), Lost("v2", "train", 10, 2, 1)});
  EXPECT_NEAR(account.lost_h, 24, kExact);
  EXPECT_NEAR(account.by_cause[0].lost_h, 24, kExact);
}

TEST(LossAccountTest, LeadsAreNotCountedAsLost) {
  Episode lead = Lost("v1", "train", 7, 2, 1);
  lead.verdict.grade = diagnosis::Grade::kHypothesis;
  Episode replaced = Lost("v2", "train", 9, 2, 1);
  replaced.superseded = true;
  const LossAccount account = Month({Held("train", "", 2, 1, 100)}, {lead, replaced});
  EXPECT_EQ(account.lost_h, 0);
  EXPECT_NEAR(account.leads_h, 7, kExact);
  EXPECT_TRUE(account.by_cause.empty());
}

TEST(LossAccountTest, AnOpenVerdictLastsUntilNowAndAClockSetBackLosesNothing) {
  EXPECT_NEAR(Month({}, {Lost("v1", "train", 12, 2, 0)}).lost_h, 12, kExact);
  // Closed before it was opened: it lies in one moment.
  EXPECT_NEAR(Month({}, {Lost("v1", "train", 12, 2, 3)}).lost_h, 12, kExact);
  EXPECT_EQ(Month({Held("train", "", 1, 2, 8)}, {}).used_h, 0);
}

TEST(LossAccountTest, JsonNamesTheNodesThatComeBackOnly) {
  NodeRecords records;
  records["n1"] = {4, DaysAgo(1)};
  records["n2"] = {2, DaysAgo(1)};
  const auto json = nlohmann::json::parse(
      LossJson(Month({Held("train", "", 2, 1, 8)}, {Lost("v1", "train", 3, 2, 1)}), records,
               {30, 3}, WallNs()));
  ASSERT_EQ(json["repeat_offenders"].size(), 1u);
  EXPECT_EQ(json["repeat_offenders"][0]["node"], "n1");
  EXPECT_NEAR(json["used_gpu_hours"].get<double>(), 192, kExact);
  EXPECT_EQ(json["by_cause"][0]["name"], "dataloader");
  EXPECT_EQ(json["rows"].size(), 2u);  // what was used, what was lost
}

class StoredMonthTest : public testing::Test {
 protected:
  static RunRecord Record(int number, std::int64_t last_seen) {
    RunRecord run;
    run.id = "r" + std::to_string(number);
    run.job = "train" + std::to_string(number % 10);
    run.started = WallNs(last_seen - kHour);
    run.last_seen = WallNs(last_seen);
    run.ranks = 8;
    run.profile.world_size = 8;
    run.profile.work = {{8, CollectiveKind::kAllReduce, 1, 4}};
    run.setup.variants = {{{{"environment FATHOM_TEAM", "vision"}}, {"n0"}}};
    return run;
  }

  const std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) / ("month" + std::to_string(getpid()) + ".db");
  void TearDown() override { std::filesystem::remove(file_); }
};

TEST_F(StoredMonthTest, RunsCountAlsoOnceTheirRecordsHaveLeft) {
  const auto store = Store::Open(":memory:");
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(store->Save(Record(i, kNow - i * kHour)).ok());
  EXPECT_LE(store->Runs("", 1000).size(), 45u);  // one profile keeps 30, and what came since
  const auto times = store->RunTimesSince(DaysAgo(30));
  ASSERT_EQ(times.size(), 200u);
  EXPECT_EQ(times[0].team, "vision");
  EXPECT_NEAR(LossesOf(times, {}, {}, DaysAgo(30), WallNs(kNow)).used_h, 200 * 8, 1e-6);
  EXPECT_EQ(store->RunTimesSince(DaysAgo(1)).size(), 25u);
}

TEST_F(StoredMonthTest, AJobThatWasTooShortForAProfileCountsOnce) {
  const auto store = Store::Open(":memory:");
  ASSERT_TRUE(store->Save(StoredJob{"short", 4, 4, 1, DaysAgo(2), DaysAgo(1), 9, "{}"}).ok());
  ASSERT_TRUE(store->Save(StoredJob{"train1", 8, 8, 1, DaysAgo(2), DaysAgo(1), 9, "{}"}).ok());
  ASSERT_TRUE(store->Save(Record(1, kNow)).ok());
  const auto times = store->RunTimesSince(DaysAgo(30));
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NEAR(LossesOf(times, {}, {}, DaysAgo(30), WallNs(kNow)).used_h, 8 + 4 * 24, 1e-6);
}

TEST_F(StoredMonthTest, AStoreOfAnEarlierFathomTellsWhatItsRunsUsed) {
  { ASSERT_TRUE(Store::Open(file_)->Save(Record(1, kNow)).ok()); }
  {
    auto database = Database::Open(file_);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)
                    ->Execute("DROP TABLE run_times; DROP TABLE probes; DROP TABLE recoveries; "
                              "PRAGMA user_version=7")
                    .ok());
  }
  const auto store = Store::Open(file_);
  EXPECT_EQ(store->degraded(), "");
  ASSERT_EQ(store->RunTimesSince(DaysAgo(30)).size(), 1u);
}

TEST_F(StoredMonthTest, VerdictsOfTheTimeAreFoundOpenOnesAlways) {
  const auto store = Store::Open(":memory:");
  for (const Episode& each : {Lost("old", "train", 1, 60, 50), Lost("new", "train", 1, 9, 8),
                              Lost("open", "train", 1, 90, 0)}) {
    ASSERT_TRUE(store->Save(each).ok());
  }
  Episode replaced = Lost("replaced", "train", 1, 9, 8);
  replaced.superseded = true;
  ASSERT_TRUE(store->Save(replaced).ok());
  std::vector<std::string> ids;
  for (const Episode& each : store->VerdictsSince(DaysAgo(30))) ids.push_back(each.id);
  EXPECT_THAT(ids, testing::ElementsAre("new", "open"));
  EXPECT_FALSE(store->VerdictsReachBackTo().known());
}

}  // namespace
}  // namespace fathom::collector
