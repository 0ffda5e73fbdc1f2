#include "collector/cli/process/trace_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::UnorderedElementsAre;

const TraceSettings kSettings = {"/opt/f/libfathom.so", "/opt/f/site", "/dev/shm/x", "train", ""};

TEST(TraceEnvironmentTest, AddsNothingButItsOwn) {
  EXPECT_THAT(*TracedEnvironment({"HOME=/h", "odd", "=x"}, kSettings),
              UnorderedElementsAre("HOME=/h", "odd", "=x", "LD_PRELOAD=/opt/f/libfathom.so",
                                   "PYTHONPATH=/opt/f/site", "FATHOM_SHM_DIR=/dev/shm/x",
                                   "FATHOM_JOB=train", "NCCL_PROFILER_PLUGIN=STATIC_PLUGIN"));
}

TEST(TraceEnvironmentTest, LeavesAProfilerOfTheUsersAlone) {
  const auto environment = TracedEnvironment({"NCCL_PROFILER_PLUGIN=none"}, kSettings);
  EXPECT_THAT(*environment, Contains("NCCL_PROFILER_PLUGIN=none"));
  EXPECT_THAT(*environment, Not(Contains("NCCL_PROFILER_PLUGIN=STATIC_PLUGIN")));
}

TEST(TraceEnvironmentTest, PrependsToTheUsersOwnAndKeepsOrder) {
  TraceSettings settings = kSettings;
  settings.trace = "gloo";
  EXPECT_THAT(*TracedEnvironment({"LD_PRELOAD=libjemalloc.so libasan.so", "PYTHONPATH=a:b",
                                  "FATHOM_JOB=old", "LD_PRELOAD_X=1"},
                                 settings),
              ElementsAre("LD_PRELOAD=/opt/f/libfathom.so:libjemalloc.so libasan.so",
                          "PYTHONPATH=/opt/f/site:a:b", "FATHOM_JOB=train", "LD_PRELOAD_X=1",
                          "FATHOM_SHM_DIR=/dev/shm/x", "FATHOM_TRACE=gloo",
                          "NCCL_PROFILER_PLUGIN=STATIC_PLUGIN"));
}

TEST(TraceEnvironmentTest, EmptyListsGetNoEmptyEntry) {
  const auto environment = TracedEnvironment({"LD_PRELOAD=", "PYTHONPATH="}, kSettings);
  EXPECT_THAT(*environment, Contains("PYTHONPATH=/opt/f/site"));
  EXPECT_THAT(*environment, Contains("LD_PRELOAD=/opt/f/libfathom.so"));
}

TEST(TraceEnvironmentTest, ARunInsideARunPreloadsOnce) {
  const Environment once = *TracedEnvironment({}, kSettings);
  EXPECT_EQ(*TracedEnvironment(once, kSettings), once);
}

TEST(TraceEnvironmentTest, APathThatLdPreloadCannotHoldIsRefused) {
  TraceSettings settings = kSettings;
  settings.tracer = "/opt/my tools/libfathom.so";
  EXPECT_TRUE(absl::IsInvalidArgument(TracedEnvironment({}, settings).status()));
}

TEST(TraceEnvironmentTest, CompanionsAreNotTraced) {
  EXPECT_THAT(CompanionEnvironment({"LD_PRELOAD=x", "FATHOM_SHM_DIR=y", "FATHOM_CONFIG=c", "A=b"}),
              ElementsAre("FATHOM_CONFIG=c", "A=b"));
}

TEST(TraceEnvironmentTest, JobIsNamedAfterTheScript) {
  EXPECT_EQ(JobNameOf({"torchrun", "--nproc-per-node", "4", "src/train.py", "--x"}), "train");
  EXPECT_EQ(JobNameOf({"/usr/bin/sh", "-c", "true"}), "sh");
  EXPECT_EQ(JobNameOf({"./my job!"}), "my-job-");
  EXPECT_EQ(CleanJobName(std::string(200, 'a')).size(), 63u);
  EXPECT_EQ(CleanJobName(""), "job");
}

}  // namespace
}  // namespace fathom::cli
