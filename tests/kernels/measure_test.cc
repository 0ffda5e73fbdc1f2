// Medians, and what a node's /proc and /sys say of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kernels/measure/digest.h"
#include "kernels/measure/machine.h"
#include "kernels/measure/samples.h"

namespace fathom::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FakeRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom-machine-" + std::to_string(getpid());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

TEST(Samples, MedianAndSpreadIgnoreOneWildSlice) {
  EXPECT_DOUBLE_EQ(MedianOf({3, 1, 2, 1000, 2}), 2);
  EXPECT_DOUBLE_EQ(SpreadOf({1, 2, 3, 4, 1000}), 1.4826);
  EXPECT_DOUBLE_EQ(QuantileOf({1, 2, 3, 4}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(MedianOf({}), 0);
}

TEST(Digest, EachBitMatters) {
  std::uint64_t words[4] = {1, 2, 3, 4};
  const std::uint64_t before = DigestOf(words, sizeof words);
  for (std::uint64_t& word : words) {
    for (int bit = 0; bit < 64; ++bit) {
      word ^= std::uint64_t{1} << bit;
      EXPECT_NE(DigestOf(words, sizeof words), before);
      word ^= std::uint64_t{1} << bit;
    }
  }
}

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  EXPECT_THAT(CpuListOf("0-2,5"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(CpuListOf(""), IsEmpty());
  EXPECT_THAT(CpuListOf("3-1"), IsEmpty());
  EXPECT_THAT(CpuListOf("0-99999999"), IsEmpty());
  EXPECT_THAT(CpuListOf("x"), IsEmpty());
}

TEST_F(FakeRoot, ModelAndMemoryAreRead) {
  Write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: A Chip 9000\n");
  Write("/proc/meminfo", "MemTotal:       1024 kB\nMemAvailable:   512 kB\n");
  const Machine machine = ThisMachine(root_);
  EXPECT_EQ(machine.cpu_model, "A Chip 9000");
  EXPECT_EQ(machine.memory_bytes, 1048576u);
  EXPECT_EQ(machine.available_bytes, 524288u);
  EXPECT_THAT(machine.numa, ElementsAre(machine.cpus));  // no NUMA in /sys: one node
}

TEST_F(FakeRoot, ThrottlingOfTheSecondHierarchyCountsParentsToo) {
  Write("/proc/self/cgroup", "0::/kubepods/pod1\n");
  Write("/sys/fs/cgroup/kubepods/pod1/cpu.stat", "usage_usec 5\nthrottled_usec 2000000\n");
  Write("/sys/fs/cgroup/kubepods/cpu.stat", "throttled_usec 500000\n");
  EXPECT_DOUBLE_EQ(LostTimeNow({0, 1}, root_).throttled_s, 2.5);
}

TEST_F(FakeRoot, ThrottlingOfTheFirstHierarchyIsRead) {
  Write("/proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/slice\n");
  Write("/sys/fs/cgroup/cpu/slice/cpu.stat", "nr_throttled 3\nthrottled_time 1500000000\n");
  EXPECT_DOUBLE_EQ(LostTimeNow({0, 1}, root_).throttled_s, 1.5);
}

TEST_F(FakeRoot, StolenTimeIsTheEighthOfTheLinesOfTheCoresThatAreAskedFor) {
  Write("/proc/stat",
        "cpu  1 2 3 4 5 6 7 900 0 0\ncpu0 1 2 3 4 5 6 7 100 0 0\ncpu1 1 2 3 4 5 6 7 200 0 0\n"
        "cpu7 1 2 3 4 5 6 7 600 0 0\nintr 5\n");
  EXPECT_DOUBLE_EQ(LostTimeNow({0, 1}, root_).stolen_s,
                   300.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

TEST_F(FakeRoot, NothingToReadIsNothingLost) {
  EXPECT_DOUBLE_EQ(LostTimeNow({0, 1}, root_).throttled_s, 0);
  EXPECT_DOUBLE_EQ(LostTimeNow({0, 1}, root_).stolen_s, 0);
}

}  // namespace
}  // namespace fathom::kernels
