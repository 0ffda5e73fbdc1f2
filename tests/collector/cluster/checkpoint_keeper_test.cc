// What a checkpoint goes without where it would be too large, and who stops writing them.
#include "collector/cluster/checkpoint_keeper.h"

#include <gtest/gtest.h>

#include "collector/bus/memory_checkpoints.h"
#include "tests/collector/bus/wires.h"

namespace fathom::collector {
namespace {

using Kind = JobCheckpoints::Kind;

v1::JobMemory::Standing StandingOf(const std::string& id, const std::string& grade) {
  v1::JobMemory::Standing standing;
  standing.mutable_verdict()->set_id(id);
  standing.mutable_verdict()->set_grade(grade);
  standing.mutable_verdict()->set_sentence(std::string(100, 's'));
  return standing;
}

// Some 100 bytes of each kind, and two verdicts.
v1::JobMemory Full() {
  v1::JobMemory memory;
  *memory.add_verdicts() = StandingOf("weak", "hypothesis");
  *memory.add_verdicts() = StandingOf("strong", "established");
  for (v1::JobMemory::Record* each :
       {memory.mutable_learnt(), memory.mutable_account(), memory.mutable_run()}) {
    each->set_bytes(std::string(100, 'r'));
  }
  memory.add_told()->set_bytes(std::string(100, 't'));
  return memory;
}

struct CheckpointKeeperTest : testing::Test {
  SystemClock clock;
  ClusterCounters counters;
  MemoryCheckpoints kept;
  JobCheckpoints jobs;
  Leases::Token token = 5;

  CheckpointKeeper::Parts Parts(std::size_t most = CheckpointKeeper::kMostBytes) {
    return {kept,
            jobs,
            counters,
            clock,
            "c1",
            [this](const std::string&) {
              return std::optional(CheckpointKeeper::Place{token, 77}); },
            most};
  }
};

TEST_F(CheckpointKeeperTest, WhatMattersLeastIsLeftOutFirstAndCounted) {
  const auto fitted = [this](std::size_t most) {
    v1::JobMemory memory = Full();
    FitCheckpoint(memory, most, counters);
    EXPECT_LE(memory.ByteSizeLong(), most);
    return memory;
  };
  EXPECT_EQ(fitted(10'000).SerializeAsString(), Full().SerializeAsString());
  const v1::JobMemory without_told = fitted(600);
  EXPECT_EQ(without_told.told_size(), 0);
  EXPECT_EQ(without_told.run().bytes().size(), 100u);
  const v1::JobMemory learnt_only = fitted(400);
  EXPECT_EQ(learnt_only.run().bytes() + learnt_only.account().bytes(), "");
  EXPECT_EQ(learnt_only.learnt().bytes().size(), 100u);
  EXPECT_EQ(learnt_only.verdicts_size(), 2);
  const v1::JobMemory strongest = fitted(170);
  EXPECT_EQ(strongest.learnt().bytes(), "");
  ASSERT_EQ(strongest.verdicts_size(), 1);
  EXPECT_EQ(strongest.verdicts(0).verdict().id(), "strong");
  EXPECT_EQ(fitted(50).verdicts_size(), 0);
  EXPECT_EQ(counters.left_out_told, 4u);
  EXPECT_EQ(counters.left_out_run, 3u);
  EXPECT_EQ(counters.left_out_account, 3u);
  EXPECT_EQ(counters.left_out_learnt, 2u);
  EXPECT_EQ(counters.left_out_verdicts, 3u);
}

TEST_F(CheckpointKeeperTest, OneThatIsTooLargeIsWrittenWithoutThat) {
  CheckpointKeeper keeper(Parts(400));
  keeper.Start();
  jobs.Begin("train", Full());
  jobs.Put("train", StandingOf("strong", "supported"), true);
  ASSERT_TRUE(Eventually([&] { return counters.checkpoints_kept.load() == 1; }));
  const auto read = keeper.Read("train", 5);
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_EQ((*read)->memory().verdicts_size(), 2);
  EXPECT_EQ((*read)->memory().told_size(), 0);
  EXPECT_EQ((*read)->position(), 77u);
  EXPECT_GT(keeper.bytes(), 300u);
}

TEST_F(CheckpointKeeperTest, WhoMetALaterOwnersWritesNoMore) {
  CheckpointKeeper keeper(Parts());
  keeper.Start();
  v1::BusCheckpoint later;
  later.set_version(1);
  later.set_token(9);
  ASSERT_TRUE(kept.Put("train", 9, later.SerializeAsString()).ok());
  jobs.Begin("train", {});
  jobs.Put("train", StandingOf("v1", "supported"), true);
  ASSERT_TRUE(Eventually([&] { return counters.checkpoints_refused.load() == 1; }));
  jobs.Put("train", StandingOf("v1", "established"), true);
  keeper.Stop();
  EXPECT_EQ(counters.checkpoints_refused, 1u);
  EXPECT_EQ(kept.Get("train").value(), later.SerializeAsString());
  EXPECT_TRUE(absl::IsAborted(keeper.Read("train", 5).status()));
  EXPECT_TRUE(keeper.Read("train", 10).value());
}

TEST_F(CheckpointKeeperTest, OfAJobThatIsOverNothingIsLeft) {
  CheckpointKeeper keeper(Parts());
  keeper.Start();
  jobs.Begin("train", Full());
  jobs.Put("train", Kind::kAccount, WallNs(3), "new");
  keeper.Stop();
  EXPECT_TRUE(kept.Get("train").ok());
  keeper.Forget("train");
  EXPECT_TRUE(absl::IsNotFound(kept.Get("train").status()));
  EXPECT_FALSE(keeper.Read("train", 5).value());
  EXPECT_FALSE(jobs.Find("train", Kind::kAccount));
  EXPECT_EQ(keeper.bytes(), 0u);
}

TEST_F(CheckpointKeeperTest, VerdictsStayWhileTheyAreOpenOrNotInTheHistory) {
  jobs.Begin("train", {});
  v1::JobMemory::Standing standing = StandingOf("v1", "supported");
  const auto held = [&] { return jobs.TakeChanged("train", false)->verdicts_size(); };
  jobs.Put("train", standing, true);
  EXPECT_EQ(held(), 1);
  standing.set_closed_ns(9);
  jobs.Put("train", standing, false);
  EXPECT_EQ(held(), 1) << "the history has it as open";
  jobs.Put("train", standing, true);
  EXPECT_EQ(held(), 0);
  EXPECT_FALSE(jobs.TakeChanged("train", false)) << "nothing changed since";
  jobs.Put("other", standing, false);
  EXPECT_EQ(jobs.Jobs(), std::vector<std::string>{"train"}) << "it is not owned here";
}

}  // namespace
}  // namespace fathom::collector
