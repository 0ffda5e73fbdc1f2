#include "daemon/agent/source/held/cpu_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

// A made-up /proc and /sys/fs/cgroup.
class CpuLimitTest : public testing::Test {
 protected:
  void Groups(const std::string& text) { Put("proc/7/cgroup", text); }
  void Put(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder_.path() + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void Stat(const std::string& folder, int periods, int throttled, int us) {
    Put("cg" + folder + "/cpu.stat", "usage_usec 5\nnr_periods " + std::to_string(periods) +
                                         "\nnr_throttled " + std::to_string(throttled) +
                                         "\nthrottled_usec " + std::to_string(us) + "\n");
  }
  CpuLimitReader Reader() const {
    return {KernelRoots{folder_.path() + "/proc", folder_.path() + "/cg", ""}, 7};
  }

  fakes::RingFolder folder_;
};

TEST_F(CpuLimitTest, TellsWhatHeldItBackSinceItWasFirstLookedAt) {
  Groups("0::/pod/one\n");
  Put("cg/pod/one/cpu.max", "25000 100000\n");
  Stat("/pod/one", 100, 40, 9000);
  CpuLimitReader reader = Reader();
  const auto first = reader.Read(0);
  ASSERT_TRUE(first);
  EXPECT_DOUBLE_EQ(first->cores, 0.25);
  EXPECT_EQ(first->throttled_ns, 0) << "what was before is nobody's business";
  Stat("/pod/one", 110, 48, 9700);
  const auto then = reader.Read(1);
  EXPECT_EQ(then->throttled_ns, 700'000);
  EXPECT_EQ(then->periods, 10u);
  EXPECT_EQ(then->throttled_periods, 8u);
}

TEST_F(CpuLimitTest, VersionOneIsReadToo) {
  Groups("3:cpuset:/\n1:cpuacct,cpu:/pod\n0::/\n");
  Put("cg/cpu/pod/cpu.cfs_quota_us", "150000\n");
  Put("cg/cpu/pod/cpu.cfs_period_us", "100000\n");
  Put("cg/cpu/pod/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_time 3\n");
  CpuLimitReader reader = Reader();
  EXPECT_DOUBLE_EQ(reader.Read(0)->cores, 1.5);
  Put("cg/cpu/pod/cpu.stat", "nr_periods 2\nnr_throttled 1\nthrottled_time 80\n");
  EXPECT_EQ(reader.Read(1)->throttled_ns, 77);
}

TEST_F(CpuLimitTest, AGroupAboveItsOwnMayHoldItBack) {
  Groups("0::/slice/unit\n");
  Put("cg/slice/cpu.max", "400000 100000\n");
  Put("cg/slice/unit/cpu.max", "max 100000\n");
  Stat("/slice", 10, 0, 0);
  CpuLimitReader reader = Reader();
  EXPECT_DOUBLE_EQ(reader.Read(0)->cores, 4);
  Stat("/slice", 20, 5, 1000);
  EXPECT_EQ(reader.Read(1)->throttled_periods, 5u);
}

TEST_F(CpuLimitTest, WithoutALimitThereIsNothing) {
  EXPECT_FALSE(Reader().Read(0)) << "the process is gone";
  Groups("0::/pod\n");
  EXPECT_FALSE(Reader().Read(0)) << "the group cannot be seen";
  Put("cg/pod/cpu.max", "max 100000\n");
  EXPECT_FALSE(Reader().Read(0));
  Put("cg/pod/cpu.max", "nonsense\n");
  EXPECT_FALSE(Reader().Read(0));
  Put("cg/pod/cpu.max", "10000 0\n");
  EXPECT_FALSE(Reader().Read(0));
  Groups("0::/../pod\nnonsense\n::\n");
  EXPECT_FALSE(Reader().Read(0)) << "a group of another namespace";
}

TEST_F(CpuLimitTest, AProcessThatIsMovedIsFollowed) {
  Groups("0::/\n");
  CpuLimitReader reader = Reader();
  EXPECT_FALSE(reader.Read(0));
  Groups("0::/pod\n");
  Put("cg/pod/cpu.max", "10000 100000\n");
  Stat("/pod", 50, 50, 7000);
  EXPECT_FALSE(reader.Read(1)) << "not at every reading";
  EXPECT_EQ(reader.Read(CpuLimitReader::kLookUpNs)->throttled_ns, 0);
  Stat("/pod", 3, 3, 10);  // made anew with the same name
  EXPECT_EQ(reader.Read(CpuLimitReader::kLookUpNs + 1)->throttled_ns, 0);
  Stat("/pod", 4, 4, 90);
  EXPECT_EQ(reader.Read(2 * CpuLimitReader::kLookUpNs)->throttled_ns, 80'000);
}

}  // namespace
}  // namespace fathom::agent
