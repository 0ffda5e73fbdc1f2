#include "daemon/agent/spool/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "daemon/agent/uplink/outbox.h"

namespace fathom::agent {
namespace {

using Clock = std::chrono::steady_clock;
using testing::ElementsAre;

v1::AgentMessage Summary(std::int64_t iteration, std::size_t padding = 0) {
  v1::AgentMessage message;
  message.mutable_summary()->set_first_iteration(iteration);
  message.mutable_summary()->set_job(std::string(padding, 'x'));
  return message;
}

v1::AgentMessage Rank(std::uint32_t rank) {
  v1::AgentMessage message;
  message.mutable_rank()->set_rank(rank);
  return message;
}

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() { std::filesystem::remove_all(folder_); }
  ~SpoolTest() override {
    box_.reset();
    spool_.reset();
    std::filesystem::remove_all(folder_);
  }

  // As an agent that starts.
  void Start(std::size_t memory = 1 << 20) {
    box_.reset();
    spool_.reset();
    auto spool = Spool::Open(settings_, [] { return WallNs(1'000'000'000); });
    ASSERT_TRUE(spool.ok()) << spool.status();
    spool_ = *std::move(spool);
    box_ = std::make_unique<Outbox>(memory);
    box_->KeepIn(*spool_);
  }
  bool WaitFor(const std::function<bool()>& met) const {
    const auto deadline = Clock::now() + std::chrono::seconds(30);
    while (!met() && Clock::now() < deadline) usleep(2000);
    return met();
  }
  // What a stream brings until all is acknowledged: iterations of summaries, −1 for a rank.
  std::vector<std::int64_t> Stream() {
    std::vector<std::int64_t> got;
    box_->BeginStream({});
    const auto deadline = Clock::now() + std::chrono::seconds(30);
    while (!box_->WaitUntilEmpty(Clock::now()) && Clock::now() < deadline) {
      const auto message = box_->Next(Clock::now() + std::chrono::milliseconds(100));
      if (!message) continue;
      if (message->has_rank()) got.push_back(-1);
      if (message->has_summary()) got.push_back(message->summary().first_iteration());
      box_->Acknowledge(message->number());
    }
    box_->EndStream();
    return got;
  }

  const std::string folder_ = testing::TempDir() + "spool_" + std::to_string(getpid());
  SpoolSettings settings_{.folder = folder_};
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<Outbox> box_;
};

TEST_F(SpoolTest, TheNextAgentSendsWhatWasNotAcknowledgedAndWhoItIsOf) {
  Start();
  box_->PutStanding("1rank/a", Rank(4));
  for (int i = 1; i <= 4; ++i) box_->PutDurable(Summary(i));
  box_->BeginStream({});
  for (int i = 0; i < 4; ++i) box_->Next(Clock::now());
  box_->Acknowledge(4);  // hello, rank, two summaries
  Start();
  EXPECT_THAT(Stream(), ElementsAre(-1, 3, 4));
  Start();
  EXPECT_THAT(Stream(), ElementsAre());
  box_->PutDurable(Summary(5));
  Start();
  EXPECT_THAT(Stream(), ElementsAre(5)) << "who is gone and done with is not said again";
}

TEST_F(SpoolTest, WhatMemoryDoesNotHoldComesBackFromTheDiskInOrder) {
  Start(20'000);
  std::vector<std::int64_t> all;
  for (int i = 0; i < 2000; ++i) {
    box_->PutDurable(Summary(i, 200));
    all.push_back(i);
  }
  EXPECT_EQ(Stream(), all);
  EXPECT_EQ(box_->counters().dropped, 0u);
}

TEST_F(SpoolTest, AStreamThatBreaksLosesNothingOfWhatIsOnTheDisk) {
  Start(20'000);
  for (int i = 0; i < 1000; ++i) box_->PutDurable(Summary(i, 200));
  std::set<std::int64_t> got;
  box_->BeginStream({});
  for (int i = 0; i < 150; ++i) {
    const auto message = box_->Next(Clock::now() + std::chrono::seconds(5));
    ASSERT_TRUE(message);
    if (message->has_summary()) got.insert(message->summary().first_iteration());
    if (i % 50 == 20) box_->Acknowledge(message->number());
  }
  box_->EndStream();
  for (const std::int64_t iteration : Stream()) got.insert(iteration);
  EXPECT_EQ(got.size(), 1000u);
}

TEST_F(SpoolTest, AcknowledgedSegmentsAreRemoved) {
  settings_.segment_bytes = 10'000;
  Start(20'000);
  for (int i = 0; i < 1000; ++i) box_->PutDurable(Summary(i, 200));
  ASSERT_TRUE(WaitFor([&] { return spool_->counters().bytes > 200'000; }));
  Stream();
  EXPECT_TRUE(WaitFor([&] {
    box_->PutDurable(Summary(1, 6000));
    return spool_->counters().bytes < 250'000;
  })) << spool_->counters().bytes;
}

TEST_F(SpoolTest, BeyondItsSizeTheOldestGoesAndIsCounted) {
  settings_.segment_bytes = 20'000;
  settings_.max_bytes = 100'000;
  Start(20'000);
  for (int i = 0; i < 2000; ++i) {
    box_->PutDurable(Summary(i, 200));
    if (i % 50 == 0) {
      ASSERT_TRUE(WaitFor([&] { return spool_->settled(); }));
    }
  }
  const std::vector<std::int64_t> got = Stream();
  EXPECT_EQ(got.back(), 1999);
  EXPECT_LT(got.size(), 1000u);
  EXPECT_GE(spool_->counters().pushed_out + got.size(), 2000u);
}

TEST_F(SpoolTest, ATornTailIsSkippedAndCounted) {
  Start();
  box_->PutDurable(Summary(1));
  ASSERT_TRUE(WaitFor([&] { return spool_->settled(); }));
  box_->PutDurable(Summary(2, 100));
  box_.reset();
  spool_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().extension() != ".seg") continue;
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 5);
  }
  Start();
  EXPECT_EQ(spool_->counters().damaged, 1u);
  EXPECT_THAT(Stream(), ElementsAre(1));
}

// Needs the right to mount.
TEST_F(SpoolTest, AFullDiskCostsMemoryAloneAndIsTriedAgain) {
  std::filesystem::create_directory(folder_);
  if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "no root";
  Start();
  box_->PutDurable(Summary(0));
  ASSERT_TRUE(WaitFor([&] { return spool_->settled(); }));
  std::ofstream(folder_ + "/ballast") << std::string(60'000, 'b');
  for (int i = 1; i <= 100; ++i) box_->PutDurable(Summary(i, 500));
  EXPECT_TRUE(WaitFor([&] { return !spool_->healthy(); }));
  EXPECT_TRUE(WaitFor([&] { return spool_->counters().write_errors > 0; }));
  box_->PutDurable(Summary(101));
  std::filesystem::remove(folder_ + "/ballast");
  EXPECT_TRUE(WaitFor([&] { return spool_->healthy() && spool_->settled(); }));
  Start();
  EXPECT_EQ(Stream().size(), 102u);
  box_.reset();
  spool_.reset();
  umount(folder_.c_str());
}

}  // namespace
}  // namespace fathom::agent
