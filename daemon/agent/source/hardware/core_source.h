// On how many cores each traced process may run, how much of them others take, and behind whom it
// stands in line for them.
//
// Made by session/hardware_watch, run by source_runner.
//
// Model: the cores that the process's main thread may use; of their time since the last sample the
// share that was spent and not by the process; its niceness, or kIdle where it runs only when
// nobody else wants to (SCHED_IDLE). Other ranks of the job are others too. A device is named by
// its process.
//
// Units: those of HardwareMetric; ticks of the kernel, of which only ratios are taken.
// Thread-safety: as hardware_source.h. Errors: NotFound without /proc/stat; a process that cannot
// be read is left out. Cost: /proc/stat, and two files of each process, of kMostProcesses at most.
// Source: proc(5), sched(7).
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_CORE_SOURCE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_CORE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/agent/source/hardware/hardware_source.h"
#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

// The cores in "0-3,8,10-11"; empty where it is no such list. At most 8,192.
std::set<std::uint32_t> CoresIn(std::string_view list);

class CoreSource : public HardwareSource {
 public:
  static constexpr std::size_t kMostProcesses = 64;
  static constexpr double kIdle = 40;  // more than any niceness

  // `traced`: called on the source's thread.
  CoreSource(KernelRoots roots, std::function<std::set<std::uint32_t>()> traced)
      : roots_(std::move(roots)), traced_(std::move(traced)) {}

  std::string_view name() const override { return "cores"; }
  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override;

 private:
  using Cores = std::map<std::uint32_t, CpuTicks>;

  static Cores ParseStat(std::string_view text);
  void SampleProcess(std::uint32_t pid, const Cores& now, std::vector<Reading>& out);

  const KernelRoots roots_;
  const std::function<std::set<std::uint32_t>()> traced_;
  Cores last_;
  std::map<std::uint32_t, std::uint64_t> own_;  // ticks that each process has spent
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_CORE_SOURCE_H_
