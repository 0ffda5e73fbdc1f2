#include "daemon/agent/source/held/stop_watch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kOneMs = 1'000'000;

// A made-up /proc and /sys/fs/cgroup, in which a process is in the state that it was put in.
class StopWatchTest : public testing::Test {
 protected:
  void State(char state) {
    Put("proc/7/task/7/stat", std::string("7 (a (b) c) ") + state + " 1 7 7 0 -1 4194304 100 0");
  }
  void Put(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder_.path() + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  StopWatch Watch() const {
    return {KernelRoots{folder_.path() + "/proc", folder_.path() + "/cg", ""}, 7};
  }
  // The watch in `state` at this ms, when the process was heard of at `moved_ms` last.
  std::optional<StopWatch::Stretch> Look(StopWatch& watch, char state, int ms, int moved_ms) {
    State(state);
    return watch.Look(ms * kOneMs, moved_ms * kOneMs);
  }

  fakes::RingFolder folder_;
};

void ExpectMs(const std::optional<StopWatch::Stretch>& told, double begin, double end) {
  ASSERT_TRUE(told);
  EXPECT_EQ(static_cast<double>(told->begin_ns) / kOneMs, begin);
  EXPECT_EQ(static_cast<double>(told->end_ns) / kOneMs, end);
}

TEST_F(StopWatchTest, BeginsAndEndsInTheMiddleBetweenTwoLooks) {
  State('S');
  StopWatch watch = Watch();
  EXPECT_FALSE(Look(watch, 'T', 110, 100)) << "it was heard of just now";
  EXPECT_FALSE(Look(watch, 'S', 120, 100));
  ExpectMs(Look(watch, 'T', 130, 100), 125, 130);
  ExpectMs(Look(watch, 'T', 140, 100), 130, 140);
  ExpectMs(Look(watch, 'S', 150, 100), 140, 145);
  EXPECT_FALSE(Look(watch, 'S', 160, 100));
  EXPECT_EQ(watch.stopped_ns(), 20 * kOneMs);
}

TEST_F(StopWatchTest, WhatItWritesTellsThatItGoesOn) {
  State('T');
  StopWatch watch = Watch();
  ExpectMs(Look(watch, 'T', 120, 100), 110, 120);
  ExpectMs(Look(watch, 'R', 126, 121), 120, 121);
  EXPECT_FALSE(Look(watch, 'R', 130, 121));
}

TEST_F(StopWatchTest, LooksBecomeRareInALongSilence) {
  State('S');
  StopWatch watch = Watch();
  int looks = 0;
  for (int ms = 1; ms <= 10'000; ms += 5) looks += Look(watch, 'T', ms, 0) ? 1 : 0;
  EXPECT_GT(looks, 90);
  EXPECT_LT(looks, 160);
}

TEST_F(StopWatchTest, ItsDebuggerAndItsControlGroupStopItToo) {
  State('t');
  StopWatch traced = Watch();
  EXPECT_TRUE(Look(traced, 't', 120, 100));
  Put("proc/7/cgroup", "3:freezer:/pod\n0::/\n");
  Put("cg/freezer/pod/freezer.state", "FROZEN\n");
  StopWatch first = Watch();
  EXPECT_TRUE(Look(first, 'D', 120, 100));
  EXPECT_FALSE(Look(first, 'R', 120, 100));
  Put("proc/7/cgroup", "0::/pod\n");
  Put("cg/pod/cgroup.events", "populated 1\nfrozen 1\n");
  StopWatch second = Watch();
  EXPECT_TRUE(Look(second, 'S', 120, 100));
  Put("cg/pod/cgroup.events", "populated 1\nfrozen 0\n");
  StopWatch thawed = Watch();
  EXPECT_FALSE(Look(thawed, 'S', 120, 100));
}

TEST_F(StopWatchTest, WhatCannotBeReadWasNeverStopped) {
  StopWatch watch = Watch();
  EXPECT_FALSE(watch.Look(120 * kOneMs, 100 * kOneMs));
  EXPECT_EQ(watch.stopped_ns(), 0);
}

TEST(StopWatchOnThisKernel, SeesARealProcessStopped) {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  StopWatch watch(KernelRoots{}, static_cast<std::uint32_t>(child));
  EXPECT_FALSE(watch.Look(120 * kOneMs, 100 * kOneMs));
  kill(child, SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(watch.Look(140 * kOneMs, 100 * kOneMs));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, WCONTINUED), child);
  EXPECT_TRUE(watch.Look(160 * kOneMs, 100 * kOneMs)) << "its end";
  EXPECT_FALSE(watch.Look(180 * kOneMs, 100 * kOneMs));
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}

}  // namespace
}  // namespace fathom::agent
