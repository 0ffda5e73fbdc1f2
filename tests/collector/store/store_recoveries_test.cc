// Records of recoveries are kept whole, bounded by count and age, and read after a restart.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "collector/store/store.h"

namespace fathom::collector {
namespace {

constexpr std::int64_t kDay = 86'400'000'000'000;
constexpr std::int64_t kNow = 20'000 * kDay;

ToldRecovery Record(const std::string& id, const std::string& job, std::int64_t begun_ns) {
  ToldRecovery told;
  told.id = id;
  told.job = job;
  told.state = "under way";
  told.times.begun_ns = told.told_ns = begun_ns;
  return told;
}

struct StoreRecoveriesTest : testing::Test {
  void SetUp() override {
    folder =
        std::filesystem::temp_directory_path() / ("store_recoveries_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    file = (folder / "store.db").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::string file;
};

TEST_F(StoreRecoveriesTest, TheNewestTellingOfEachIsThereAfterARestart) {
  {
    auto store = Store::Open(file);
    ASSERT_TRUE(store->Save(Record("r1", "train", kNow)).ok());
    ASSERT_TRUE(store->Save(Record("r2", "train", kNow + 1)).ok());
    ASSERT_TRUE(store->Save(Record("r3", "other", kNow + 2)).ok());
    ToldRecovery done = Record("r1", "train", kNow);
    done.state = "recovered";
    ASSERT_TRUE(store->Save(done).ok());
  }
  auto store = Store::Open(file);
  EXPECT_EQ(store->degraded(), "");
  const auto of_job = store->Recoveries("train", 10);
  ASSERT_EQ(of_job.size(), 2u);
  EXPECT_EQ(of_job[0].id, "r2");
  EXPECT_EQ(of_job[1].state, "recovered");
  EXPECT_EQ(store->Recoveries("train", 1).size(), 1u);
  EXPECT_EQ(store->RecoveriesSince(WallNs(kNow + 2)).size(), 1u);
  EXPECT_TRUE(store->Recoveries("nobody", 10).empty());
}

TEST_F(StoreRecoveriesTest, OldOnesAndTooManyLeave) {
  auto store = Store::Open(file);
  const std::int64_t age = Store::kMaxRecoveryDays * kDay;
  ASSERT_TRUE(store->Save(Record("old", "other", kNow - age - kDay)).ok());
  for (std::int64_t i = 0; i < Store::kMaxRecoveriesOfJob + 5; ++i) {
    ASSERT_TRUE(store->Save(Record("r" + std::to_string(i), "train", kNow + i)).ok());
  }
  EXPECT_TRUE(store->Recoveries("other", 10).empty());
  const auto kept = store->Recoveries("train", 1000);
  EXPECT_EQ(static_cast<std::int64_t>(kept.size()), Store::kMaxRecoveriesOfJob);
  EXPECT_EQ(kept.back().id, "r5");
}

TEST_F(StoreRecoveriesTest, WhatWasKeptInMemoryIsWrittenOnceTheFileIsThere) {
  auto first = Store::Open(file);
  auto second = Store::Open(file);  // the first one holds it
  ASSERT_NE(second->degraded(), "");
  ASSERT_TRUE(second->Save(Record("r1", "train", kNow)).ok());
  EXPECT_EQ(second->Recoveries("train", 10).size(), 1u);
  first.reset();
  second->Upkeep();
  EXPECT_EQ(second->degraded(), "");
  EXPECT_EQ(second->Recoveries("train", 10).size(), 1u);
}

}  // namespace
}  // namespace fathom::collector
