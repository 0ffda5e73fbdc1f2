#include "collector/job/state/job_table.h"

#include <gtest/gtest.h>

#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

struct JobTableTest : testing::Test {
  FakeClock clock;
  JobTable jobs{clock, {.max_jobs = 8, .max_ranks = 6}};

  // How many of its ranks were taken.
  int Begin(const std::string& name, std::uint32_t world) {
    const auto job = jobs.FindOrAdd(name);
    int taken = 0;
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      taken += job->Apply(RankOf(rank, world, name), "n0", jobs.MakeRoom()).rejected ? 0 : 1;
    }
    return taken;
  }
  void End(const std::string& name) {
    clock.AdvanceSeconds(100);
    ASSERT_TRUE(jobs.Find(name)->UpdateEnded(clock.Mono()));
  }
};

TEST_F(JobTableTest, RanksOfEndedJobsMakeRoom) {
  EXPECT_EQ(Begin("first", 5), 5);
  End("first");
  EXPECT_EQ(Begin("second", 5), 5);
  EXPECT_EQ(jobs.Find("first"), nullptr);
}

TEST_F(JobTableTest, RanksOfRunningJobsDoNot) {
  EXPECT_EQ(Begin("first", 5), 5);
  EXPECT_EQ(Begin("second", 5), 1);
  EXPECT_NE(jobs.Find("first"), nullptr);
}

TEST_F(JobTableTest, AnEndedJobStaysWhileThereIsRoom) {
  EXPECT_EQ(Begin("first", 2), 2);
  End("first");
  EXPECT_EQ(Begin("second", 4), 4);
  EXPECT_NE(jobs.Find("first"), nullptr);
}

TEST_F(JobTableTest, ANewJobIsMetOnceBeforeAnybodySeesIt) {
  std::vector<std::string> met;
  const JobTable* table = nullptr;
  JobTable shared(clock, {.max_jobs = 1}, [&](JobState& job) {
    met.push_back(job.name());
    EXPECT_EQ(table->Find(job.name()), nullptr);
  });
  table = &shared;
  const auto job = shared.FindOrAdd("a");
  EXPECT_EQ(shared.FindOrAdd("a"), job);
  EXPECT_EQ(shared.FindOrAdd("b"), nullptr) << "there is no room";
  EXPECT_EQ(met, std::vector<std::string>{"a"});
}

TEST_F(JobTableTest, OneAgentsJunkShutsNobodyElseOut) {
  JobTable shared(clock,
                  {.max_jobs = 8, .max_ranks = 20, .max_agent_jobs = 3, .max_agent_ranks = 4});
  for (int i = 0; i < 8; ++i) {
    const auto junk = shared.FindOrAdd("junk" + std::to_string(i), "evil");
    EXPECT_EQ(junk != nullptr, i < 3) << i;
    if (junk != nullptr) junk->Apply(RankOf(0, 9), "evil", shared.MakeRoom("evil"));
  }
  EXPECT_EQ(shared.MakeRoom("evil"), 1u);
  EXPECT_FALSE(shared.HasRoom("evil"));
  EXPECT_EQ(shared.MakeRoom("n0"), 4u);
  EXPECT_NE(shared.FindOrAdd("junk0", "n0"), nullptr) << "a job is joined by other nodes";
  EXPECT_NE(shared.FindOrAdd("train", "n0"), nullptr);
  clock.AdvanceSeconds(100);
  ASSERT_TRUE(shared.Find("junk1")->UpdateEnded(clock.Mono()));
  EXPECT_NE(shared.FindOrAdd("more", "evil"), nullptr) << "what has ended no longer counts";
}

}  // namespace
}  // namespace fathom::collector
