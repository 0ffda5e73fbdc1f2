#include "collector/cli/doctor/machine_checks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

class MachineChecksTest : public testing::Test {
 protected:
  MachineChecksTest() {
    std::string name = testing::TempDir() + "/machine_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~MachineChecksTest() override { fs::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }

  fs::path root_;
};

TEST_F(MachineChecksTest, SharedMemory) {
  const Finding absent = CheckSharedMemory(root_);
  EXPECT_EQ(absent.state, "off");
  EXPECT_TRUE(absent.required);
  EXPECT_FALSE(absent.todo.empty());
  fs::create_directories(root_ / "dev/shm");
  EXPECT_NE(CheckSharedMemory(root_).state, "off");
}

TEST_F(MachineChecksTest, Clock) {
  const std::string file = "sys/devices/system/clocksource/clocksource0/current_clocksource";
  EXPECT_EQ(CheckClock(root_).state, "partly");
  Write(file, "tsc");
  EXPECT_EQ(CheckClock(root_).state, "ok");
  Write(file, "hpet");
  EXPECT_EQ(CheckClock(root_).state, "partly");
  EXPECT_FALSE(CheckClock(root_).todo.empty());
}

TEST_F(MachineChecksTest, Ptrace) {
  EXPECT_EQ(CheckPtrace(root_).state, "ok");
  Write("proc/sys/kernel/yama/ptrace_scope", "3");
  EXPECT_EQ(CheckPtrace(root_).state, "partly");
  EXPECT_NE(CheckPtrace(root_).todo.find("boot"), std::string::npos);
  Write("proc/sys/kernel/yama/ptrace_scope", "1");
  EXPECT_EQ(CheckPtrace(root_).state, geteuid() == 0 ? "ok" : "partly");
}

TEST_F(MachineChecksTest, PerfEvents) {
  EXPECT_EQ(CheckPerfEvents(root_).state, "partly");
  Write("proc/sys/kernel/perf_event_paranoid", "2");
  EXPECT_EQ(CheckPerfEvents(root_).state, "ok");
}

TEST_F(MachineChecksTest, AGpuIsSeen) {
  EXPECT_NE(CheckGpu(root_).why.find("no GPU"), std::string::npos);
  Write("dev/nvidia0", "");
  const Finding found = CheckGpu(root_);
  EXPECT_EQ(found.state, "ok");
  EXPECT_NE(found.why.find("a GPU is here"), std::string::npos);
}

}  // namespace
}  // namespace fathom::cli
