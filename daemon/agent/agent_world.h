// What the agent takes from outside: clocks and the kernel's files.
//
// Made by main, or by tests, which turn the clocks themselves.
// Thread-safety: the clocks may be read by any thread. Errors: none. Cost: a system call each.
#ifndef FATHOM_DAEMON_AGENT_AGENT_WORLD_H_
#define FATHOM_DAEMON_AGENT_AGENT_WORLD_H_

#include <cstdint>
#include <functional>

#include "daemon/agent/source/process/proc_file.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

// Processor time of the thread that asks.
std::int64_t ThreadCpuNs();
// Processor time of the tools that this process ran and that have ended.
double ChildrenCpuSeconds();

// Clocks and kernel files, given so that tests can turn them.
struct AgentWorld {
  std::function<MonoNs()> mono_now;
  std::function<WallNs()> wall_now;
  KernelRoots roots;
  std::function<std::int64_t()> thread_cpu = ThreadCpuNs;
  static AgentWorld Real();
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_AGENT_WORLD_H_
