// Reads CPU and run-queue time of a process's threads often and cheaply.
//
// Called by the agent every few ms while ops flow; fills pipeline/thread_clock through the caller.
//
// Model: /proc/PID/task/TID/schedstat holds both as ns; its file stays open, so that a sample is
// one pread. A kernel without it (CONFIG_SCHED_INFO off) gives no samples.
//
// Units: ns since the thread began.
// Thread-safety: single-threaded, owned by the poll loop. Ownership: owns the descriptors.
// Errors: nullopt for a thread that is gone. Cost: about 2 µs a sample.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_THREAD_SAMPLER_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_THREAD_SAMPLER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

struct ThreadTimes {
  std::int64_t cpu_ns = 0;
  std::int64_t runqueue_ns = 0;
};

class ThreadSampler {
 public:
  ThreadSampler(const KernelRoots& roots, std::uint32_t pid);
  ThreadSampler(const ThreadSampler&) = delete;
  ThreadSampler& operator=(const ThreadSampler&) = delete;
  ~ThreadSampler();

  std::optional<ThreadTimes> Read(std::uint32_t tid);

 private:
  const std::string task_folder_;
  std::map<std::uint32_t, int> files_;  // −1: could not be opened; not tried again
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_THREAD_SAMPLER_H_
