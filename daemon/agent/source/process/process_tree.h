// What the processes below a traced one have used: compilers, uploads, workers of data loaders.
//
// Made by the agent once a second while a rank is silent outside of any op; read by it alone.
//
// Model: one walk over /proc gives every process its parent. Below(p) adds up the CPU time of all
// that descend from p, of children that have ended too (cutime, cstime of p and of those), and the
// bytes of those that live. A process that is itself traced, and all below it, is left out: what it
// does tells of another rank. A child that ended unseen (its parent ignores SIGCHLD) is lost, so a
// sum may shrink.
//
// Units: ns; bytes as ProcessFacts::io_bytes. Thread-safety: thread-compatible, made, then read.
// Errors: what cannot be read is left out. Cost: one small file a process of the node, some 10 µs
// each; one more for each of the first kMostIoFiles descendants.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_TREE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_TREE_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "daemon/agent/source/process/process_facts.h"

namespace fathom::agent {

struct DescendantUse {
  std::uint64_t cpu_ns = 0;
  std::uint64_t io_bytes = 0;
  std::uint32_t processes = 0;  // that live
};

class ProcessTree {
 public:
  static constexpr std::size_t kMostIoFiles = 64;

  explicit ProcessTree(const KernelRoots& roots);

  DescendantUse Below(std::uint32_t pid, const std::set<std::uint32_t>& traced) const;

 private:
  const KernelRoots roots_;
  std::map<std::uint32_t, StatLine> processes_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> children_;
};

// Whether a process is one of `among`, or descends from one. Cost: a small file a generation.
bool IsBelow(const KernelRoots& roots, std::uint32_t pid, const std::set<std::uint32_t>& among);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_TREE_H_
