#include "daemon/agent/source/process/process_facts.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "daemon/agent/source/process/gpu_information.h"
#include "daemon/agent/source/process/node_facts.h"
#include "daemon/agent/source/process/process_tree.h"
#include "daemon/agent/source/process/thread_sampler.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

// A made-up /proc and /sys/fs/cgroup.
class FakeTree {
 public:
  KernelRoots roots() const { return {folder_.path() + "/proc", folder_.path() + "/cgroup"}; }
  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.path() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  fakes::RingFolder folder_;
};

// Field n of the line holds n, but for the name and the state.
std::string StatText(char state, std::uint64_t start_time, int exit_code) {
  std::ostringstream text;
  text << "7 (a (odd) name) " << state;
  for (int field = 4; field <= 52; ++field) {
    text << " ";
    if (field == 22) {
      text << start_time;
    } else {
      text << (field == 52 ? exit_code : field);
    }
  }
  text << "\n";
  return text.str();
}

TEST(ParseStatTest, TakesFieldsAfterTheNameWhateverItIs) {
  const auto line = ParseStat(StatText('D', 999, 0));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->state, 'D');
  EXPECT_EQ(line->minor_faults, 10u);
  EXPECT_EQ(line->major_faults, 12u);
  EXPECT_EQ(line->user_ticks, 14u);
  EXPECT_EQ(line->start_time_ticks, 999u);
  EXPECT_EQ(line->rss_pages, 24u);
}

TEST(ParseStatTest, RefusesGarbage) {
  EXPECT_FALSE(ParseStat("").ok());
  EXPECT_FALSE(ParseStat("7 (name) R 1 2").ok());
  EXPECT_FALSE(ParseStat("no parenthesis").ok());
}

TEST(ReadLifeTest, AnotherStartTimeIsAnotherProcess) {
  FakeTree tree;
  tree.Put("proc/7/stat", StatText('S', 100, 0));
  EXPECT_TRUE(ReadLife(tree.roots(), 7, 100).alive);
  EXPECT_TRUE(ReadLife(tree.roots(), 7, 0).alive);
  EXPECT_FALSE(ReadLife(tree.roots(), 7, 101).alive);
  EXPECT_FALSE(ReadLife(tree.roots(), 8, 100).alive);
}

TEST(ReadLifeTest, AZombieIsDeadAndTellsHow) {
  FakeTree tree;
  tree.Put("proc/7/stat", StatText('Z', 100, 9));
  const ProcessLife life = ReadLife(tree.roots(), 7, 100);
  EXPECT_FALSE(life.alive);
  EXPECT_EQ(life.exit_code, 9);
}

TEST(ReadFactsTest, ReadsAFakeTree) {
  FakeTree tree;
  tree.Put("proc/7/stat", StatText('S', 100, 0));
  tree.Put("proc/7/cgroup", "0::/job/a\n");
  tree.Put("cgroup/job/a/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 1234\n");
  tree.Put("proc/7/task/9/schedstat", "111 222 3\n");
  tree.Put("proc/7/task/9/status",
           "Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n");
  tree.Put("proc/7/task/9/wchan", "futex_wait_queue");
  const auto facts = ReadFacts(tree.roots(), 7, 9);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->state, 'S');
  EXPECT_EQ(facts->training_thread_cpu_ns, 111u);
  EXPECT_EQ(facts->runqueue_wait_ns, 222u);
  EXPECT_EQ(facts->voluntary_switches, 5u);
  EXPECT_EQ(facts->involuntary_switches, 6u);
  EXPECT_EQ(facts->cgroup_throttled_us, 1234u);
  EXPECT_EQ(facts->wait_channel, "futex_wait_queue");
  EXPECT_GT(facts->cpu_ns, 0u);
  tree.Put("proc/7/task/7/wchan", "do_wait");
  EXPECT_EQ(ReadFacts(tree.roots(), 7, 9)->wait_channel, "do_wait")
      << "a thread of autograd rests, the main one waits for something";
}

std::string StatOf(std::uint32_t parent, std::uint64_t ticks, std::uint64_t of_children) {
  std::ostringstream text;
  text << "1 (x) S " << parent;
  for (int field = 5; field <= 52; ++field) {
    const bool user = field == 14, children = field == 16;
    text << " " << (user ? ticks : children ? of_children : 0);
  }
  text << "\n";
  return text.str();
}

TEST(ProcessTreeTest, AddsUpAllThatDescendAndLeavesOutOtherRanks) {
  FakeTree tree;
  tree.Put("proc/10/stat", StatOf(1, 1000, 5));  // the rank; 5 of a compiler that is over
  tree.Put("proc/11/stat", StatOf(10, 20, 3));   // its worker
  tree.Put("proc/12/stat", StatOf(11, 400, 0));  // and what that started
  tree.Put("proc/12/io", "rchar: 100\nwchar: 20\n");
  tree.Put("proc/13/stat", StatOf(10, 7000, 0));  // another rank
  tree.Put("proc/14/stat", StatOf(13, 7000, 0));
  tree.Put("proc/15/stat", StatOf(1, 7000, 0));
  tree.Put("proc/16/stat", "not one");
  const DescendantUse use = ProcessTree(tree.roots()).Below(10, {10, 13});
  EXPECT_EQ(use.cpu_ns, TicksToNs(5 + 23 + 400));
  EXPECT_EQ(use.io_bytes, 120u);
  EXPECT_EQ(use.processes, 2u);
  EXPECT_EQ(ProcessTree(tree.roots()).Below(99, {}).processes, 0u);
}

TEST(ReadFactsTest, ReadsIoAndWhatItsCgroupWentThrough) {
  FakeTree tree;
  tree.Put("proc/7/stat", StatText('S', 100, 0));
  tree.Put("proc/7/io", "rchar: 1000\nwchar: 500\nsyscr: 3\nread_bytes: 7\nwrite_bytes: 4096\n");
  tree.Put("proc/7/cgroup", "0::/job/a\n");
  tree.Put("cgroup/job/a/memory.events", "low 0\noom 2\noom_kill 1\n");
  tree.Put("cgroup/job/a/cgroup.events", "populated 1\nfrozen 1\n");
  const auto facts = ReadFacts(tree.roots(), 7, 7);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->io_bytes, 5603u);
  EXPECT_EQ(ReadOomKills(facts->cgroup), 1u);
  tree.Put("cgroup/job/a/memory.events", "low 0\noom 2\noom_kill 2\n");
  std::filesystem::remove(tree.roots().proc + "/7/stat");
  EXPECT_EQ(ReadOomKills(facts->cgroup), 2u) << "also after its end";
  EXPECT_TRUE(facts->frozen);
}

TEST(ReadFactsTest, ReadsThrottlingOfVersionOneGroups) {
  FakeTree tree;
  tree.Put("proc/7/stat", StatText('R', 100, 0));
  tree.Put("proc/7/cgroup", "4:memory:/m\n3:cpu,cpuacct:/job\n");
  tree.Put("cgroup/cpu/job/cpu.stat", "nr_periods 1\nthrottled_time 5000000\n");
  EXPECT_EQ(ReadFacts(tree.roots(), 7, 7)->cgroup_throttled_us, 5000u);
}

TEST(ReadFactsTest, MissingFilesLeaveZeroes) {
  FakeTree tree;
  tree.Put("proc/7/stat", StatText('R', 100, 0));
  const auto facts = ReadFacts(tree.roots(), 7, 7);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->training_thread_cpu_ns, 0u);
  EXPECT_TRUE(absl::IsNotFound(ReadFacts(tree.roots(), 8, 8).status()));
}

TEST(ReadFactsTest, ReadsARealProcess) {
  const auto pid = static_cast<std::uint32_t>(getpid());
  const auto facts = ReadFacts({}, pid, pid);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->state, 'R');
  EXPECT_GT(facts->rss_bytes, 1u << 20);
  EXPECT_GT(facts->minor_faults, 0u);
}

// A child that waits for its end.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  void Signal(int signal) const { kill(pid_, signal); }

 private:
  pid_t pid_;
};

bool Eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (holds()) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST(ReadLifeTest, SeesARealProcessStopAndDie) {
  const Child child;
  EXPECT_TRUE(ReadLife({}, child.pid(), 0).alive);
  child.Signal(SIGSTOP);
  EXPECT_TRUE(Eventually([&] { return ReadLife({}, child.pid(), 0).state == 'T'; }));
  EXPECT_TRUE(ReadLife({}, child.pid(), 0).alive);
  child.Signal(SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !ReadLife({}, child.pid(), 0).alive; }));
  EXPECT_EQ(ReadLife({}, child.pid(), 0).exit_code & 0x7f, SIGKILL);
}

TEST(ThreadSamplerTest, ReadsARealThreadAndLearnsOfItsEnd) {
  ThreadSampler sampler({}, static_cast<std::uint32_t>(getpid()));
  const auto tid = static_cast<std::uint32_t>(getpid());
  const auto first = sampler.Read(tid);
  if (!first.has_value()) GTEST_SKIP() << "this kernel has no schedstat";
  EXPECT_TRUE(Eventually([&] { return sampler.Read(tid)->cpu_ns > first->cpu_ns; }));
  EXPECT_FALSE(sampler.Read(0x7ffffff0).has_value());
}

TEST(NodeFactsTest, ReadsAFakeTree) {
  FakeTree tree;
  tree.Put("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3\n");
  tree.Put("proc/loadavg", "1.50 1.00 0.50 2/300 999\n");
  tree.Put("proc/pressure/cpu", "some avg10=12.50 avg60=0.00 avg300=0.00 total=9\n");
  tree.Put("proc/meminfo", "MemTotal:  100 kB\nMemAvailable:   2048 kB\n");
  NodeFactsReader reader(tree.roots());
  EXPECT_EQ(reader.Read().cpu_busy_ratio, 0);
  tree.Put("proc/stat", "cpu  150 0 125 825 0 0 0 0 0 0\n");
  const NodeFacts facts = reader.Read();
  EXPECT_DOUBLE_EQ(facts.cpu_busy_ratio, 0.75);
  EXPECT_DOUBLE_EQ(facts.load1, 1.5);
  EXPECT_DOUBLE_EQ(facts.pressure_cpu, 0.125);
  EXPECT_EQ(facts.pressure_memory, -1);
  EXPECT_EQ(facts.memory_available_bytes, 2048u * 1024);
}

TEST(NodeFactsTest, ReadsTheRealNode) {
  NodeFactsReader reader({});
  const NodeFacts facts = reader.Read();
  EXPECT_GT(facts.cores, 0u);
  EXPECT_GT(facts.memory_available_bytes, 0u);
}

TEST(GpuInformationTest, TheUuidOfAGpu) {
  FakeTree tree;
  EXPECT_EQ(ReadGpuUuid(tree.roots(), "0000:1B:00.0"), "") << "no driver";
  const std::string uuid = "GPU-5a3f2c1e-0d4b-6a7c-8e9f-001122334455";
  tree.Put("proc/driver/nvidia/gpus/0000:1b:00.0/information",
           "Model: \t\t NVIDIA H200\nIRQ:   \t\t 120\nGPU UUID: \t " + uuid + "\n");
  EXPECT_EQ(ReadGpuUuid(tree.roots(), "0000:1B:00.0"), uuid);
  tree.Put("proc/driver/nvidia/gpus/0000:1c:00.0/information",
           "Model: \t\t Unknown\nGPU UUID: \t " + std::string(uuid.size(), '?') + "\n");
  EXPECT_EQ(ReadGpuUuid(tree.roots(), "0000:1C:00.0"), "") << "of a GPU that nobody has opened";
  tree.Put("proc/driver/nvidia/gpus/0000:1d:00.0/information", "Model: \t\t NVIDIA H200\n");
  EXPECT_EQ(ReadGpuUuid(tree.roots(), "0000:1D:00.0"), "");
}

}  // namespace
}  // namespace fathom::agent
