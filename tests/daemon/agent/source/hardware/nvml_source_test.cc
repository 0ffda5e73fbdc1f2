// The NVML source against a library that stands for the driver's (tests/fakes/nvml).
#include "daemon/agent/source/hardware/nvml_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "daemon/agent/source/hardware/source_runner.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using M = HardwareMetric;

const std::string kHealthy =
    "gpus 2\n* sm_clock 1980\n* max_sm_clock 1980\n* memory_clock 2619\n* max_memory_clock 2619\n"
    "* temperature 55\n* power_mw 650000\n* power_limit_mw 700000\n* reasons 0\n* pcie_width 16\n"
    "* max_pcie_width 16\n* ecc_corrected 1\n* ecc_uncorrected 0\n* remapped 0\n* nvlinks 18\n"
    "* nvlink_replays 0\n* pcie_replays 0\n";

class NvmlSourceTest : public testing::Test {
 protected:
  NvmlSourceTest() {
    setenv("FAKE_NVML", path().c_str(), 1);
    Say(kHealthy);
  }
  std::string path() const { return folder_.path() + "/gpus.txt"; }
  void Say(const std::string& text) {
    const std::string draft = path() + ".new";
    std::ofstream(draft) << text;
    std::filesystem::rename(draft, path());
  }
  void Process(std::uint32_t pid, std::uint32_t parent, const std::string& name) {
    const std::string at = folder_.path() + "/proc/" + std::to_string(pid);
    std::filesystem::create_directories(at);
    std::ofstream stat(at + "/stat");
    stat << pid << " (" << name << ") S " << parent;
    for (int field = 5; field <= 52; ++field) stat << " " << field;
    std::ofstream(at + "/comm") << name << "\n";
  }
  NvmlSource::Parts Parts(std::set<std::uint32_t> traced = {}) const {
    return {.roots = {folder_.path() + "/proc", folder_.path() + "/cgroup", "/sys"},
            .traced = [traced] { return traced; },
            .library = FAKE_NVML_LIBRARY};
  }
  absl::Status Sample(NvmlSource& source) {
    readings_.clear();
    return source.Sample(doing_, readings_);
  }
  const Reading* Find(const std::string& device, M metric) const {
    for (const Reading& reading : readings_) {
      if (reading.device == device && reading.metric == metric) return &reading;
    }
    return nullptr;
  }
  double Value(const std::string& device, M metric) const {
    const Reading* reading = Find(device, metric);
    return reading == nullptr ? -1 : reading->value;
  }

  const std::string first_ = "0000:1B:00.0", second_ = "0000:1C:00.0";  // as CUDA writes them
  fakes::RingFolder folder_;
  CallInProgress doing_{[] { return MonoNs(1); }};
  std::vector<Reading> readings_;
};

TEST_F(NvmlSourceTest, TellsClocksPowerAndCountersByTheBusIdThatCudaUses) {
  NvmlSource source(Parts());
  ASSERT_TRUE(Sample(source).ok());
  EXPECT_EQ(Value(first_, M::kSmClock), 1980);
  EXPECT_EQ(Value(second_, M::kMaxSmClock), 1980);
  EXPECT_EQ(Value(first_, M::kPower), 650);
  EXPECT_EQ(Value(first_, M::kPcieWidth), 16);
  EXPECT_EQ(Value(first_, M::kNvlinksUp), 18);
  EXPECT_EQ(Value(first_, M::kGpuLost), 0);
  EXPECT_EQ(Find(first_, M::kOtherProcesses), nullptr) << "no process of ours is on it";
}

TEST_F(NvmlSourceTest, WhatChangesSlowlyIsReadSeldom) {
  NvmlSource source(Parts());
  ASSERT_TRUE(Sample(source).ok());
  for (int i = 1; i < NvmlSource::kSlowEvery; ++i) {
    ASSERT_TRUE(Sample(source).ok());
    EXPECT_NE(Find(first_, M::kSmClock), nullptr);
    EXPECT_EQ(Find(first_, M::kPcieWidth), nullptr);
  }
  ASSERT_TRUE(Sample(source).ok());
  EXPECT_NE(Find(first_, M::kPcieWidth), nullptr);
}

TEST_F(NvmlSourceTest, TellsWhatTheGpuSuffersFrom) {
  Say(kHealthy +
      "1 sm_clock 1200\n1 reasons 96\n1 pcie_width 8\n1 ecc_uncorrected 2\n"
      "1 remapped 1\n1 remap_pending 1\n1 nvlink_down 4\n1 nvlink_replays 3\n");
  NvmlSource source(Parts());
  ASSERT_TRUE(Sample(source).ok());
  EXPECT_EQ(Value(second_, M::kSmClock), 1200);
  EXPECT_EQ(Value(second_, M::kClockReasons), 96);
  EXPECT_EQ(Value(second_, M::kPcieWidth), 8);
  EXPECT_EQ(Value(second_, M::kEccUncorrected), 2);
  EXPECT_EQ(Value(second_, M::kRemapPending), 1);
  EXPECT_EQ(Value(second_, M::kNvlinksUp), 17);
  EXPECT_EQ(Value(second_, M::kNvlinkErrors), 17 * 3);
  EXPECT_EQ(Value(first_, M::kRemapPending), 0);
}

TEST_F(NvmlSourceTest, CountsXidEventsAndKeepsTheNewest) {
  NvmlSource source(Parts());
  ASSERT_TRUE(Sample(source).ok());
  const double before = Value(second_, M::kXidErrors);
  Say(kHealthy + "1 xid 1 79\n");
  ASSERT_TRUE(Sample(source).ok());
  ASSERT_NE(Find(second_, M::kXidErrors), nullptr);
  EXPECT_EQ(Value(second_, M::kXidErrors), before + 1);
  EXPECT_EQ(Find(second_, M::kXidErrors)->note, "Xid 79");
  EXPECT_EQ(Value(first_, M::kXidErrors), 0);
}

TEST_F(NvmlSourceTest, AnotherProcessOnTheGpuIsNamedAndOurOwnIsNot) {
  Process(100, 1, "python3");
  Process(101, 100, "pt_worker");  // below a traced one
  Process(200, 1, "jupyter");
  Process(300, 1, "nvidia-cuda-mps-server");
  Say(kHealthy + "0 processes 100 101 200 300\n1 processes 200\n");
  NvmlSource source(Parts({100}));
  ASSERT_TRUE(Sample(source).ok());
  ASSERT_NE(Find(first_, M::kOtherProcesses), nullptr);
  EXPECT_EQ(Value(first_, M::kOtherProcesses), 1);
  EXPECT_EQ(Find(first_, M::kOtherProcesses)->note, "jupyter (pid 200)");
  EXPECT_EQ(Find(second_, M::kOtherProcesses), nullptr)
      << "without one of ours on it the numbers may be of another namespace";
}

TEST_F(NvmlSourceTest, AGpuThatFallsOffTheBusIsToldAndTheOtherGoesOn) {
  NvmlSource source(Parts());
  ASSERT_TRUE(Sample(source).ok());
  Say(kHealthy + "1 lost 1\n");
  ASSERT_TRUE(Sample(source).ok());
  EXPECT_EQ(Value(second_, M::kGpuLost), 1);
  EXPECT_EQ(Find(second_, M::kSmClock), nullptr);
  EXPECT_EQ(Value(first_, M::kGpuLost), 0);
  EXPECT_EQ(Value(first_, M::kSmClock), 1980);
}

TEST_F(NvmlSourceTest, ADriverThatIsNotLoadedIsAFailureWithItsWordsAndIsTriedAgain) {
  Say(kHealthy + "fail nvmlInit_v2 9\n");
  NvmlSource source(Parts());
  const absl::Status status = Sample(source);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(status.message(), "nvmlInit: Driver Not Loaded (9)");
  Say(kHealthy);
  EXPECT_TRUE(Sample(source).ok());
}

TEST_F(NvmlSourceTest, NoLibraryAndNoGpuAreMissing) {
  NvmlSource::Parts parts = Parts();
  parts.library = "/nowhere/libnvidia-ml.so.1";
  NvmlSource none(parts);
  EXPECT_TRUE(absl::IsNotFound(Sample(none)));
  Say("gpus 0\n");
  NvmlSource empty(Parts());
  EXPECT_TRUE(absl::IsNotFound(Sample(empty)));
}

TEST_F(NvmlSourceTest, WhatAGpuDoesNotSupportIsLeftOut) {
  Say("gpus 1\n0 sm_clock 1500\n");
  NvmlSource source(Parts());
  ASSERT_TRUE(Sample(source).ok());
  EXPECT_EQ(Value(first_, M::kSmClock), 1500);
  EXPECT_EQ(Find(first_, M::kNvlinksUp), nullptr);
  EXPECT_EQ(Find(first_, M::kEccCorrected), nullptr);
}

TEST_F(NvmlSourceTest, ACallOfTheDriverThatHangsIsNamed) {
  Say(kHealthy + "hang nvmlDeviceGetPowerUsage\n");
  setenv("FAKE_NVML", path().c_str(), 1);
  std::vector<std::unique_ptr<HardwareSource>> sources;
  sources.push_back(std::make_unique<NvmlSource>(Parts()));
  const auto now = [] {
    return MonoNs(std::chrono::steady_clock::now().time_since_epoch() /
                  std::chrono::nanoseconds(1));
  };
  SourceRunner runner(std::move(sources), now,
                      {Nanos(1'000'000), Nanos(1'000'000), Nanos(50'000'000)});
  SourceState state;
  for (int i = 0; i < 6000 && state.state != "hangs"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    state = runner.States().front();
  }
  EXPECT_EQ(state.state, "hangs");
  EXPECT_EQ(state.reason, "nvmlDeviceGetPowerUsage of device 0 does not return");
  Say(kHealthy);
  for (int i = 0; i < 6000 && state.state != "on"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    state = runner.States().front();
  }
  EXPECT_EQ(state.state, "on");
}

}  // namespace
}  // namespace fathom::agent
