#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "daemon/agent/source/hardware/core_source.h"
#include "daemon/agent/source/hardware/limit_source.h"
#include "daemon/agent/source/hardware/reading_board.h"
#include "daemon/agent/source/hardware/source_runner.h"
#include "daemon/agent/source/hardware/system_sources.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using M = HardwareMetric;

constexpr std::int64_t kSecond = 1'000'000'000;

// A made-up /proc and /sys, and a clock that the test sets.
class HardwareSources : public testing::Test {
 protected:
  KernelRoots roots() const {
    return {folder_.path() + "/proc", folder_.path() + "/cgroup", folder_.path() + "/sys"};
  }
  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.path() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<double> Value(HardwareSource& source, const std::string& device, M metric) {
    std::vector<Reading> readings;
    status_ = source.Sample(doing_, readings);
    return In(readings, device, metric);
  }
  static std::optional<double> In(const std::vector<Reading>& readings, const std::string& device,
                                  M metric) {
    for (const Reading& reading : readings) {
      if (reading.device == device && reading.metric == metric) return reading.value;
    }
    return std::nullopt;
  }

  MonoNs now_{kSecond};
  CallInProgress doing_{[this] { return now_; }};
  absl::Status status_;
  fakes::RingFolder folder_;
};

TEST_F(HardwareSources, TellsHowOftenALimitHeldATracedProcessBack) {
  std::set<std::uint32_t> traced = {7, 8};
  Put("proc/7/cgroup", "0::/pod\n");
  Put("proc/8/cgroup", "0::/\n");
  Put("cgroup/pod/cpu.max", "50000 100000\n");
  Put("cgroup/pod/cpu.stat", "nr_periods 10\nnr_throttled 9\nthrottled_usec 900\n");
  LimitSource source(
      roots(), [&] { return traced; }, [this] { return now_; });
  EXPECT_EQ(Value(source, "7", M::kHeldBack), 0) << "of what was before nothing is known";
  Put("cgroup/pod/cpu.stat", "nr_periods 20\nnr_throttled 14\nthrottled_usec 1900\n");
  std::vector<Reading> readings;
  EXPECT_TRUE(source.Sample(doing_, readings).ok());
  EXPECT_EQ(In(readings, "7", M::kHeldBack), 0.5);
  EXPECT_EQ(In(readings, "7", M::kCpuLimit), 0.5);
  EXPECT_FALSE(In(readings, "8", M::kHeldBack)) << "it has no limit";
  EXPECT_EQ(Value(source, "7", M::kHeldBack), 0) << "no period went by";
  traced = {};
  EXPECT_FALSE(Value(source, "7", M::kCpuLimit));
  EXPECT_TRUE(status_.ok());
}

TEST_F(HardwareSources, TellsWhoElseTakesTheCoresOfAProcessAndBehindWhomItStands) {
  const auto put_process = [&](int pid, const std::string& cores, int ticks, int nice, int policy) {
    const std::string number = std::to_string(pid);
    Put("proc/" + number + "/status", "Name:\tx\nCpus_allowed_list:\t" + cores + "\n");
    std::string line = number + " (a b) c) R 1 0 0 0 0 0 0 0 0 0 " + std::to_string(ticks) +
                       " 10 0 0 20 " + std::to_string(nice) + " 1 0 100 0 50";
    for (int field = 25; field <= 40; ++field) line += " 0";
    Put("proc/" + number + "/stat", line + " " + std::to_string(policy) + " 0 0 0\n");
  };
  std::set<std::uint32_t> traced = {7, 8, 9};
  Put("proc/stat",
      "cpu  9 9 9 9 9 9 9 9\ncpu0 100 0 0 100 0 0 0 0 0 0\ncpu1 0 0 0 200 0 0 0 0 0 0\n");
  put_process(7, "0", 50, 0, 0);
  put_process(8, "0-1", 0, -5, 5);
  CoreSource source(roots(), [&] { return traced; });
  EXPECT_FALSE(Value(source, "7", M::kCoresTaken)) << "of what was before nothing is known";
  Put("proc/stat", "cpu0 200 0 0 100 0 0 0 0 0 0\ncpu1 0 0 0 300 0 0 0 0 0 0\n");
  put_process(7, "0", 75, 0, 0);
  std::vector<Reading> readings;
  EXPECT_TRUE(source.Sample(doing_, readings).ok());
  EXPECT_EQ(In(readings, "7", M::kAllowedCores), 1);
  EXPECT_EQ(In(readings, "7", M::kCoresTaken), 0.75);
  EXPECT_EQ(In(readings, "7", M::kPriority), 0);
  EXPECT_EQ(In(readings, "8", M::kAllowedCores), 2);
  EXPECT_EQ(In(readings, "8", M::kCoresTaken), 0.5);
  EXPECT_EQ(In(readings, "8", M::kPriority), CoreSource::kIdle);
  EXPECT_FALSE(In(readings, "9", M::kAllowedCores)) << "it is gone";
}

TEST(CoresIn, ReadsListsOfTheKernel) {
  EXPECT_EQ(CoresIn("0-3,8,10-11"), (std::set<std::uint32_t>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(CoresIn("5"), (std::set<std::uint32_t>{5}));
  for (const char* bad : {"", "-", "3-1", "a", "0-99999", "1,,2", "1-2-3"}) {
    EXPECT_TRUE(CoresIn(bad).empty()) << bad;
  }
}

TEST_F(HardwareSources, TellsCarrierAndErrorsOfRealNetworkDevicesAlone) {
  Put("sys/class/net/eth0/device/vendor", "0x15b3\n");
  Put("sys/class/net/eth0/carrier", "1\n");
  Put("sys/class/net/eth0/carrier_changes", "7\n");
  Put("sys/class/net/eth0/speed", "100000\n");
  Put("sys/class/net/eth0/statistics/rx_errors", "3\n");
  Put("sys/class/net/eth0/statistics/tx_errors", "2\n");
  Put("sys/class/net/veth9/carrier", "1\n");  // has no device: a container's
  const auto source = MakeNetworkSource(roots());
  EXPECT_EQ(Value(*source, "eth0", M::kCarrierChanges), 7);
  EXPECT_EQ(Value(*source, "eth0", M::kLinkErrors), 5);
  EXPECT_EQ(Value(*source, "eth0", M::kSpeed), 100000);
  EXPECT_EQ(Value(*source, "veth9", M::kCarrier), std::nullopt);
}

TEST_F(HardwareSources, ADeviceThatNobodySwitchedOnSaysNothing) {
  Put("sys/class/net/eth1/device/vendor", "0x15b3\n");
  Put("sys/class/net/eth1/carrier_changes", "0\n");  // carrier cannot be read while it is off
  const auto source = MakeNetworkSource(roots());
  EXPECT_EQ(Value(*source, "eth1", M::kCarrier), std::nullopt);
  EXPECT_TRUE(absl::IsNotFound(status_)) << status_;
}

TEST_F(HardwareSources, TellsStateAndCountersOfRdmaPorts) {
  Put("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  Put("sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  Put("sys/class/infiniband/mlx5_0/ports/1/counters/link_downed", "2\n");
  Put("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "11\n");
  Put("sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "40\n");
  const auto source = MakeRdmaSource(roots());
  EXPECT_EQ(Value(*source, "mlx5_0/1", M::kPortActive), 1);
  EXPECT_EQ(Value(*source, "mlx5_0/1", M::kSpeed), 400'000);
  EXPECT_EQ(Value(*source, "mlx5_0/1", M::kLinkDowned), 2);
  EXPECT_EQ(Value(*source, "mlx5_0/1", M::kRetransmits), 40);
  Put("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  EXPECT_EQ(Value(*source, "mlx5_0/1", M::kPortActive), 0);
}

TEST_F(HardwareSources, TellsHowBusyWholeDisksAreBetweenTwoSamples) {
  Put("sys/block/nvme0n1/size", "1000\n");
  const auto line = [](int operations, int waited_ms, int busy_ms) {
    return " 259 0 nvme0n1 " + std::to_string(operations) + " 0 0 " + std::to_string(waited_ms) +
           " 0 0 0 0 0 " + std::to_string(busy_ms) + " 0\n 259 1 nvme0n1p1 5 0 0 9 0 0 0 0 0 9 0\n";
  };
  Put("proc/diskstats", line(100, 1000, 4000));
  const auto source = MakeDiskSource(roots(), [this] { return now_; });
  EXPECT_EQ(Value(*source, "nvme0n1", M::kDiskBusy), std::nullopt) << "nothing to compare with";
  now_ = MonoNs(now_.ns + 2 * kSecond);
  Put("proc/diskstats", line(110, 1500, 5000));
  std::vector<Reading> readings;
  ASSERT_TRUE(source->Sample(doing_, readings).ok());
  EXPECT_EQ(In(readings, "nvme0n1", M::kDiskBusy), 0.5);
  EXPECT_EQ(In(readings, "nvme0n1", M::kDiskWait), 50);
  EXPECT_EQ(In(readings, "nvme0n1p1", M::kDiskBusy), std::nullopt) << "a partition";
}

TEST_F(HardwareSources, TellsClocksThrottlesAndPressureOfProcessors) {
  Put("proc/pressure/cpu", "some avg10=12.50 avg60=1.00 avg300=0.00 total=5\n");
  for (const char* core : {"cpu0", "cpu1"}) {
    const std::string at = std::string("sys/devices/system/cpu/") + core;
    Put(at + "/cpufreq/scaling_cur_freq", core == std::string("cpu0") ? "2000000\n" : "3000000\n");
    Put(at + "/thermal_throttle/core_throttle_count", "4\n");
  }
  Put("sys/devices/system/cpu/cpufreq/boost", "1\n");
  const auto source = MakeCpuSource(roots());
  EXPECT_EQ(Value(*source, "cpu", M::kPressureCpu), 0.125);
  EXPECT_EQ(Value(*source, "cpu", M::kCpuClock), 2500);
  EXPECT_EQ(Value(*source, "cpu", M::kCpuThrottles), 8);
}

TEST_F(HardwareSources, TellsPressureSwapAndKillsOfMemory) {
  Put("proc/pressure/memory", "some avg10=40.00 avg60=1.00 avg300=0.00 total=5\n");
  Put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 250 kB\n");
  Put("proc/vmstat", "pswpin 30\npswpout 12\noom_kill 2\n");
  const auto source = MakeMemorySource(roots());
  EXPECT_EQ(Value(*source, "memory", M::kPressureMemory), 0.4);
  EXPECT_EQ(Value(*source, "memory", M::kMemoryAvailable), 0.25);
  EXPECT_EQ(Value(*source, "memory", M::kSwappedPages), 42);
  EXPECT_EQ(Value(*source, "memory", M::kOomKills), 2);
}

TEST_F(HardwareSources, WhatIsNotThereIsMissingAndNotWrong) {
  for (const auto& source : MakeSystemSources(roots(), [this] { return now_; })) {
    std::vector<Reading> readings;
    EXPECT_TRUE(absl::IsNotFound(source->Sample(doing_, readings))) << source->name();
  }
}

TEST_F(HardwareSources, GarbageInTheKernelsFilesLeavesReadingsOut) {
  Put("proc/pressure/memory", "some avg10=");
  Put("proc/meminfo", "MemTotal: many\n");
  Put("proc/vmstat", std::string(200'000, 'x'));
  Put("proc/diskstats", "1 2 3\n\n a b c d e f g h i j k l m n o p\n");
  Put("sys/class/infiniband/mlx5_0/ports/1/rate", "fast\n");
  Put("sys/class/net/eth0/device/vendor", "\n");
  Put("sys/class/net/eth0/carrier", "");
  for (const auto& source : MakeSystemSources(roots(), [this] { return now_; })) {
    std::vector<Reading> readings;
    EXPECT_FALSE(source->Sample(doing_, readings).ok()) << source->name();
    EXPECT_TRUE(readings.empty()) << source->name();
  }
}

// What a source does in the tests of the runner.
class PlayedSource : public HardwareSource {
 public:
  PlayedSource(std::function<absl::Status(CallInProgress&, std::vector<Reading>&)> play,
               double budget = 1)
      : play_(std::move(play)), budget_(budget) {}
  std::string_view name() const override { return "played"; }
  double budget() const override { return budget_; }
  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override {
    return play_(doing, out);
  }

 private:
  const std::function<absl::Status(CallInProgress&, std::vector<Reading>&)> play_;
  const double budget_;
};

template <typename... Sources>
std::vector<std::unique_ptr<HardwareSource>> ListOf(Sources... sources) {
  std::vector<std::unique_ptr<HardwareSource>> list;
  (list.push_back(std::move(sources)), ...);
  return list;
}

MonoNs RealNow() {
  return MonoNs(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

bool Within30Seconds(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

const RunnerPace kQuick{Nanos(1'000'000), Nanos(1'000'000), Nanos(50'000'000)};

TEST(SourceRunner, ACallThatHangsIsNamedAndStopsNobodyElse) {
  std::atomic<bool> release{false};
  std::atomic<int> sampled{0};
  auto hangs = std::make_unique<PlayedSource>([&](CallInProgress& doing, auto&) {
    doing.Enter("nvmlDeviceGetPowerUsage", 3);
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return absl::OkStatus();
  });
  auto works = std::make_unique<PlayedSource>([&](CallInProgress&, std::vector<Reading>& out) {
    out.push_back({DeviceKind::kCpu, "cpu", M::kCpuClock, 1.0 * ++sampled, ""});
    return absl::OkStatus();
  });
  SourceRunner runner(ListOf(std::move(hangs), std::move(works)), RealNow, kQuick);
  ASSERT_TRUE(Within30Seconds([&] { return runner.States()[0].state == "hangs"; }));
  EXPECT_EQ(runner.States()[0].reason, "nvmlDeviceGetPowerUsage of device 3 does not return");
  const int then = sampled;
  EXPECT_TRUE(Within30Seconds([&] { return sampled > then + 3; })) << "the other goes on";
  EXPECT_FALSE(runner.Take().empty());
  release = true;
  EXPECT_TRUE(Within30Seconds([&] { return runner.States()[0].state == "on"; }))
      << "it is taken up again";
}

TEST(SourceRunner, EndsThoughASourceHangs) {
  auto release = std::make_shared<std::atomic<bool>>(false);
  auto ended = std::make_shared<std::atomic<bool>>(false);
  {
    auto hangs = std::make_unique<PlayedSource>([release, ended](CallInProgress& doing, auto&) {
      doing.Enter("a driver's call");
      while (!*release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      *ended = true;
      return absl::OkStatus();
    });
    SourceRunner runner(ListOf(std::move(hangs)), RealNow, kQuick);
    EXPECT_TRUE(Within30Seconds([&] { return runner.States()[0].state == "hangs"; }));
  }
  EXPECT_FALSE(*ended) << "the runner is gone, and did not wait for it";
  *release = true;
  EXPECT_TRUE(Within30Seconds([&] { return ended->load(); }));
}

TEST(SourceRunner, WhatIsMissingIsAskedAgain) {
  std::atomic<int> asked{0};
  auto source = std::make_unique<PlayedSource>([&](CallInProgress&, std::vector<Reading>& out) {
    if (++asked < 3) return absl::NotFoundError("no GPU");
    out.push_back({DeviceKind::kGpu, "0", M::kSmClock, 1, ""});
    return absl::OkStatus();
  });
  SourceRunner runner(ListOf(std::move(source)), RealNow, kQuick);
  EXPECT_TRUE(Within30Seconds([&] { return !runner.Take().empty(); }));
  EXPECT_EQ(runner.States()[0].state, "on");
  EXPECT_EQ(runner.States()[0].reason, "");
}

TEST(SourceRunner, ASampleThatCostsMoreThanItsBudgetIsFollowedByLongerRest) {
  auto dear = std::make_unique<PlayedSource>(
      [](CallInProgress&, auto&) {
        timespec begin{}, now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
        do {
          clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        } while ((now.tv_sec - begin.tv_sec) * kSecond + now.tv_nsec - begin.tv_nsec < 2'000'000);
        return absl::OkStatus();
      },
      0.001);
  SourceRunner runner(ListOf(std::move(dear)), RealNow, kQuick);
  ASSERT_TRUE(Within30Seconds([&] { return runner.States()[0].samples == 1; }));
  EXPECT_GE(runner.States()[0].rest, Nanos(2 * kSecond)) << "2 ms are 0.1 % of 2 s";
}

Reading Gauge(double value) { return {DeviceKind::kGpu, "0", M::kSmClock, value, ""}; }

TEST(ReadingBoard, TellsWhatMovedAndAllNowAndThen) {
  ReadingBoard board;
  board.Put({Gauge(1980), {DeviceKind::kGpu, "0", M::kEccCorrected, 5, ""}});
  ReadingBoard::News news = board.Take(MonoNs(kSecond));
  EXPECT_TRUE(news.whole);
  EXPECT_EQ(news.readings.size(), 2u);
  board.Put({Gauge(1965)});
  EXPECT_TRUE(board.Take(MonoNs(2 * kSecond)).readings.empty()) << "15 MHz are nothing";
  board.Put({Gauge(1200)});
  news = board.Take(MonoNs(3 * kSecond));
  EXPECT_FALSE(news.whole);
  ASSERT_EQ(news.readings.size(), 1u);
  EXPECT_EQ(news.readings[0].value, 1200);
  news = board.Take(MonoNs(31 * kSecond));
  EXPECT_TRUE(news.whole);
  EXPECT_EQ(news.readings.size(), 2u);
}

TEST(ReadingBoard, WhatMayNotHaveArrivedIsToldAgain) {
  ReadingBoard board;
  board.Put({Gauge(1980)});
  board.Take(MonoNs(kSecond));
  EXPECT_TRUE(board.Take(MonoNs(2 * kSecond)).readings.empty());
  board.TellAll();
  const ReadingBoard::News news = board.Take(MonoNs(3 * kSecond));
  EXPECT_TRUE(news.whole);
  EXPECT_EQ(news.readings.size(), 1u);
}

TEST(ReadingBoard, ManySmallStepsAddUp) {
  ReadingBoard board;
  board.Put({Gauge(1980)});
  board.Take(MonoNs(kSecond));
  std::size_t told = 0;
  for (int i = 1; i <= 20; ++i) {
    board.Put({Gauge(1980 - 20 * i)});
    told += board.Take(MonoNs(kSecond + i)).readings.size();
  }
  EXPECT_GE(told, 4u);
  EXPECT_LE(told, 10u);
}

TEST(ReadingBoard, ACounterThatRunsIsToldOnceAGapAtMost) {
  ReadingBoard board;
  std::size_t told = 0;
  for (int i = 0; i < 100; ++i) {
    board.Put({{DeviceKind::kRdma, "mlx5_0/1", M::kSymbolErrors, 1.0 * i, ""}});
    told += board.Take(MonoNs(kSecond + i * kSecond / 10)).readings.size();
  }
  EXPECT_EQ(told, 7u) << "of 10 s";
}

TEST(ReadingBoard, ForgetsProcessesThatNoSampleNamesAnyMoreButNoDevice) {
  ReadingBoard board;
  board.Put({{DeviceKind::kProcess, "71", M::kHeldBack, 0.5, ""},
             {DeviceKind::kNetwork, "eth0", M::kCarrier, 1, ""}});
  EXPECT_EQ(board.Take(MonoNs(kSecond)).readings.size(), 2u);
  const MonoNs later = MonoNs(kSecond) + ReadingBoard::kForgetAfter + Nanos(1);
  board.Put({{DeviceKind::kProcess, "72", M::kHeldBack, 0.5, ""}});
  const ReadingBoard::News news = board.Take(later);
  EXPECT_TRUE(news.whole);
  ASSERT_EQ(news.readings.size(), 2u);
  EXPECT_EQ(news.readings[0].device, "eth0");
  EXPECT_EQ(news.readings[1].device, "72");
}

TEST(ReadingBoard, HoldsNoMoreThanItsBound) {
  ReadingBoard board;
  for (std::size_t i = 0; i < ReadingBoard::kMostReadings + 10; ++i) {
    board.Put({{DeviceKind::kDisk, std::to_string(i), M::kDiskBusy, 1, ""}});
  }
  EXPECT_EQ(board.left_out(), 10u);
  EXPECT_EQ(board.Take(MonoNs(kSecond)).readings.size(), ReadingBoard::kMostReadings);
}

}  // namespace
}  // namespace fathom::agent
