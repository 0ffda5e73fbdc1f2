#include "daemon/agent/source/hardware/limit_source.h"

#include <string>

namespace fathom::agent {

void LimitSource::SampleProcess(std::uint32_t pid, std::vector<Reading>& out) {
  const auto [at, fresh] =
      processes_.try_emplace(pid, CpuLimitReader(roots_, pid, kLookUpNs), CpuLimit());
  Process& process = at->second;
  const auto limit = process.reader.Read(now_().ns);
  if (!limit) return;
  const CpuLimit last = std::exchange(process.last, *limit);
  const std::string device = std::to_string(pid);
  out.push_back({DeviceKind::kProcess, device, HardwareMetric::kCpuLimit, limit->cores, ""});
  const std::uint64_t periods = limit->periods - last.periods;
  const auto held = static_cast<double>(limit->throttled_periods - last.throttled_periods);
  // No period passes while nothing of the group runs.
  const double share = periods == 0 ? 0 : held / static_cast<double>(periods);
  out.push_back({DeviceKind::kProcess, device, HardwareMetric::kHeldBack, share, ""});
}

absl::Status LimitSource::Sample(CallInProgress& doing, std::vector<Reading>& out) {
  doing.Enter("reading control groups of processes");
  const std::set<std::uint32_t> traced = traced_();
  std::erase_if(processes_, [&](const auto& each) { return !traced.contains(each.first); });
  std::size_t sampled = 0;
  for (const std::uint32_t pid : traced) {
    if (sampled++ < kMostProcesses) SampleProcess(pid, out);
  }
  return absl::OkStatus();
}

}  // namespace fathom::agent
