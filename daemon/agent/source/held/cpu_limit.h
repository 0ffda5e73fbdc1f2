// How much processor time a process may take by its control groups, and for how long it was held
// back by that: the CPU limit of its container.
//
// Used by session/rank_session (what of a wait for a core is the limit's doing) and by
// source/hardware (the reading of the limit).
//
// Model: every group from the process's own upward may have a quota in each period; a process whose
// group has used it up stands still until the next period, on all processors. Version 2 says it in
// cpu.max and cpu.stat, version 1 in cpu.cfs_quota_us and cpu.stat. The kernel adds up the time of
// each processor on which something stood still, and tells it when it goes on; a thread's run-queue
// time holds it too, told a moment later, when the thread runs. Which groups there are is looked up
// every `look_up_ns`, since a process may be moved.
//
// Units: ns and periods since the reader began; cores. Thread-safety: single-threaded. Errors:
// nothing where no group has a limit, or none can be read (the agent sees groups of its own
// namespace alone). Cost: at a look-up two small files a group, at a reading one a group with a
// limit.
// Source: Documentation/scheduler/sched-bwc.rst of the kernel.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HELD_CPU_LIMIT_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HELD_CPU_LIMIT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

struct CpuLimit {
  double cores = 0;               // the least of its groups
  std::int64_t throttled_ns = 0;  // of all processors
  // Of the group that held it back most.
  std::uint64_t periods = 0, throttled_periods = 0;
};

class CpuLimitReader {
 public:
  static constexpr std::int64_t kLookUpNs = 2'000'000'000;
  static constexpr std::size_t kMostGroups = 8;

  CpuLimitReader(KernelRoots roots, std::uint32_t pid, std::int64_t look_up_ns = kLookUpNs)
      : roots_(std::move(roots)), pid_(pid), look_up_ns_(look_up_ns) {}

  std::optional<CpuLimit> Read(std::int64_t now_ns);

 private:
  struct Counters {
    std::int64_t throttled_ns = 0;
    std::uint64_t periods = 0, throttled_periods = 0;
  };
  struct Group {
    std::string folder;
    double cores = 0;
    std::optional<Counters> last;
  };

  void LookUp();
  // Of version 2, and of version 1.
  static std::optional<double> CoresIn(const std::string& folder);
  static std::optional<Counters> ReadCounters(const std::string& folder);

  const KernelRoots roots_;
  const std::uint32_t pid_;
  const std::int64_t look_up_ns_;
  std::int64_t next_look_up_ns_ = std::numeric_limits<std::int64_t>::min();
  std::vector<Group> groups_;
  CpuLimit sum_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HELD_CPU_LIMIT_H_
