// Which threads of a process used a core, beside the one that trains.
//
// Used by stack_recording: stacks of a process's other threads leave the node only where these were
// at work, for most of them wait all the time. Model: CPU time of each thread at the begin and at
// the end (/proc/PID/task/TID/schedstat); a thread that began meanwhile counts from 0.
//
// Thread-safety: thread-compatible. Errors: a kernel without schedstat tells of none. Cost: one
// read a thread each time, of kMostThreads at most.
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_BUSY_THREADS_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_BUSY_THREADS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

class BusyThreads {
 public:
  static constexpr std::size_t kMostThreads = 512;
  static constexpr double kBusy = 0.25;  // of a core: less takes little of the lock

  // Begins now.
  BusyThreads(const KernelRoots& roots, std::uint32_t pid);

  // Until now, without `training`.
  std::set<std::uint32_t> Take(std::uint32_t training) const;

 private:
  std::map<std::uint32_t, std::int64_t> CpuNs() const;

  const std::string folder_;
  const std::map<std::uint32_t, std::int64_t> before_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_BUSY_THREADS_H_
