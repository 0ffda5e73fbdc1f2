// How often the CPU limits of the traced processes held them back.
//
// Made by session/hardware_watch, run by source_runner.
//
// Model: of each traced process whose control groups have a quota (source/held/cpu_limit) the
// cores that it may use, and the share of the periods since the last sample in which it had used up
// its quota. A process without a limit has no readings. A device is named by its process.
//
// Units: those of HardwareMetric. Thread-safety: as hardware_source.h. Errors: none; what cannot be
// read is left out. Cost: as CpuLimitReader for each process, of kMostProcesses at most.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_LIMIT_SOURCE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_LIMIT_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "daemon/agent/source/hardware/hardware_source.h"
#include "daemon/agent/source/held/cpu_limit.h"
#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

class LimitSource : public HardwareSource {
 public:
  static constexpr std::size_t kMostProcesses = 64;
  static constexpr std::int64_t kLookUpNs = 5'000'000'000;  // for limits that are new

  // `traced`: called on the source's thread.
  LimitSource(KernelRoots roots, std::function<std::set<std::uint32_t>()> traced,
              std::function<MonoNs()> now)
      : roots_(std::move(roots)), traced_(std::move(traced)), now_(std::move(now)) {}

  std::string_view name() const override { return "limit"; }
  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override;

 private:
  struct Process {
    CpuLimitReader reader;
    CpuLimit last;
  };

  void SampleProcess(std::uint32_t pid, std::vector<Reading>& out);

  const KernelRoots roots_;
  const std::function<std::set<std::uint32_t>()> traced_;
  const std::function<MonoNs()> now_;
  std::map<std::uint32_t, Process> processes_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_LIMIT_SOURCE_H_
