// Disks, processors, memory.
#include <cctype>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "daemon/agent/source/hardware/kernel_number.h"
#include "daemon/agent/source/hardware/system_sources.h"

namespace fathom::agent {
namespace {

void Put(std::vector<Reading>& out, DeviceKind kind, const std::string& device,
         HardwareMetric metric, std::optional<double> value) {
  if (value) out.push_back({kind, device, metric, *value, ""});
}

class DiskSource : public HardwareSource {
 public:
  DiskSource(const KernelRoots& roots, std::function<MonoNs()> now)
      : roots_(roots), now_(std::move(now)) {}

  std::string_view name() const override { return "disk"; }

  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override {
    doing.Enter("reading /proc/diskstats");
    const auto text = ReadSmallFile(roots_.proc + "/diskstats");
    if (!text.ok()) return absl::NotFoundError("/proc/diskstats cannot be read");
    const MonoNs now = now_();
    std::map<std::string, Seen, std::less<>> seen;
    for (const absl::string_view line : absl::StrSplit(*text, '\n')) ReadLine(line, now, seen, out);
    seen_ = std::move(seen);
    if (seen_.empty()) return absl::NotFoundError("no disk in /proc/diskstats");
    return absl::OkStatus();
  }

 private:
  struct Seen {
    double operations = 0, waited_ms = 0, busy_ms = 0;
    MonoNs at;
  };

  // major minor name, reads merged sectors ms, writes merged sectors ms, in flight, busy ms, …
  void ReadLine(absl::string_view line, MonoNs now, std::map<std::string, Seen, std::less<>>& seen,
                std::vector<Reading>& out) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (parts.size() < 14 || seen.size() >= kMostDevices) return;
    const std::string name(parts[2]);
    // Partitions have no folder of their own there; what lies in memory or a file is no disk.
    if (absl::StartsWith(name, "loop") || absl::StartsWith(name, "ram")) return;
    if (NumberIn(absl::StrCat(roots_.sys, "/block/", name, "/size")).value_or(0) <= 0) return;
    const auto number = [&](std::size_t at) {
      double value = 0;
      return absl::SimpleAtod(parts[at], &value) ? value : 0;
    };
    const Seen fresh{number(3) + number(7), number(6) + number(10), number(12), now};
    if (const auto known = seen_.find(name); known != seen_.end()) {
      Tell(name, known->second, fresh, out);
    }
    seen.emplace(name, fresh);
  }

  static void Tell(const std::string& name, const Seen& before, const Seen& fresh,
                   std::vector<Reading>& out) {
    const double ms = (fresh.at - before.at).Seconds() * 1e3;
    const double operations = fresh.operations - before.operations;
    if (ms <= 0 || operations < 0) return;
    Put(out, DeviceKind::kDisk, name, HardwareMetric::kDiskBusy,
        std::min(1.0, (fresh.busy_ms - before.busy_ms) / ms));
    Put(out, DeviceKind::kDisk, name, HardwareMetric::kDiskWait,
        operations == 0 ? 0 : (fresh.waited_ms - before.waited_ms) / operations);
  }

  const KernelRoots roots_;
  const std::function<MonoNs()> now_;
  std::map<std::string, Seen, std::less<>> seen_;
};

// Clocks are read of some cores, spread over all: reading one may wake it, and wait for it.
class CpuSource : public HardwareSource {
 public:
  explicit CpuSource(const KernelRoots& roots)
      : folder_(roots.sys + "/devices/system/cpu"), pressure_(roots.proc + "/pressure/cpu") {}

  std::string_view name() const override { return "cpu"; }

  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override {
    if (cores_.empty()) FindCores();
    const auto put = [&](HardwareMetric metric, std::optional<double> value) {
      Put(out, DeviceKind::kCpu, "cpu", metric, value);
    };
    doing.Enter("reading /proc/pressure/cpu");
    put(HardwareMetric::kPressureCpu, PressureIn(pressure_));
    doing.Enter("reading clocks of processors");
    const auto clock = MeanOf("/cpufreq/scaling_cur_freq");
    const auto most = MeanOf("/cpufreq/cpuinfo_max_freq");
    if (clock) put(HardwareMetric::kCpuClock, *clock / 1e3);  // kHz
    if (most) put(HardwareMetric::kMaxCpuClock, *most / 1e3);
    std::optional<double> throttles;
    for (const std::string& core : cores_) {
      const auto count =
          NumberIn(absl::StrCat(folder_, "/", core, "/thermal_throttle/core_throttle_count"));
      if (count) throttles = throttles.value_or(0) + *count;
    }
    put(HardwareMetric::kCpuThrottles, throttles);
    if (out.empty()) return absl::NotFoundError("no pressure, clock or throttle count of the CPU");
    return absl::OkStatus();
  }

 private:
  static constexpr std::size_t kSampled = 8;

  void FindCores() {
    std::vector<std::string> all;
    for (std::string& name : NamesIn(folder_, 4096)) {
      const bool core = absl::StartsWith(name, "cpu") && name.size() > 3 &&
                        std::isdigit(static_cast<unsigned char>(name[3])) != 0;
      if (core) all.push_back(std::move(name));
    }
    const std::size_t count = std::min(kSampled, all.size());
    for (std::size_t i = 0; i < count; ++i) cores_.push_back(all[i * all.size() / count]);
  }

  std::optional<double> MeanOf(const char* file) const {
    double sum = 0;
    int count = 0;
    for (const std::string& core : cores_) {
      const auto value = NumberIn(absl::StrCat(folder_, "/", core, file));
      if (!value) continue;
      sum += *value;
      ++count;
    }
    if (count == 0) return std::nullopt;
    return sum / count;
  }

  const std::string folder_, pressure_;
  std::vector<std::string> cores_;
};

class MemorySource : public HardwareSource {
 public:
  explicit MemorySource(const KernelRoots& roots) : proc_(roots.proc) {}

  std::string_view name() const override { return "memory"; }

  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override {
    const auto put = [&](HardwareMetric metric, std::optional<double> value) {
      Put(out, DeviceKind::kMemory, "memory", metric, value);
    };
    doing.Enter("reading /proc/pressure");
    put(HardwareMetric::kPressureMemory, PressureIn(proc_ + "/pressure/memory"));
    put(HardwareMetric::kPressureIo, PressureIn(proc_ + "/pressure/io"));
    doing.Enter("reading /proc/meminfo");
    const auto memory = ReadSmallFile(proc_ + "/meminfo");
    const auto total = memory.ok() ? NumberAfter(*memory, "MemTotal") : std::nullopt;
    const auto available = memory.ok() ? NumberAfter(*memory, "MemAvailable") : std::nullopt;
    if (total && available && *total > 0) {
      put(HardwareMetric::kMemoryAvailable,
          static_cast<double>(*available) / static_cast<double>(*total));
    }
    doing.Enter("reading /proc/vmstat");
    const auto events = ReadSmallFile(proc_ + "/vmstat");
    if (events.ok()) {
      const auto in = NumberAfter(*events, "pswpin"), swapped = NumberAfter(*events, "pswpout");
      const auto kills = NumberAfter(*events, "oom_kill");
      if (in && swapped) put(HardwareMetric::kSwappedPages, static_cast<double>(*in + *swapped));
      if (kills) put(HardwareMetric::kOomKills, static_cast<double>(*kills));
    }
    if (out.empty()) return absl::NotFoundError("/proc tells nothing of memory");
    return absl::OkStatus();
  }

 private:
  const std::string proc_;
};

}  // namespace

std::unique_ptr<HardwareSource> MakeDiskSource(const KernelRoots& roots,
                                               std::function<MonoNs()> now) {
  return std::make_unique<DiskSource>(roots, std::move(now));
}

std::unique_ptr<HardwareSource> MakeCpuSource(const KernelRoots& roots) {
  return std::make_unique<CpuSource>(roots);
}

std::unique_ptr<HardwareSource> MakeMemorySource(const KernelRoots& roots) {
  return std::make_unique<MemorySource>(roots);
}

std::vector<std::unique_ptr<HardwareSource>> MakeSystemSources(const KernelRoots& roots,
                                                               const std::function<MonoNs()>& now) {
  std::vector<std::unique_ptr<HardwareSource>> sources;
  sources.push_back(MakeNetworkSource(roots));
  sources.push_back(MakeRdmaSource(roots));
  sources.push_back(MakeDiskSource(roots, now));
  sources.push_back(MakeCpuSource(roots));
  sources.push_back(MakeMemorySource(roots));
  return sources;
}

}  // namespace fathom::agent
