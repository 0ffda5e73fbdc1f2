#include "daemon/agent/source/process/process_tree.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"

namespace fathom::agent {

ProcessTree::ProcessTree(const KernelRoots& roots) : roots_(roots) {
  std::error_code error;
  std::filesystem::directory_iterator at(roots_.proc, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::uint32_t pid = 0;
    if (!absl::SimpleAtoi(at->path().filename().string(), &pid)) continue;
    const auto line = ReadStat(roots_, pid);
    if (!line.ok()) continue;
    processes_[pid] = *line;
    children_[line->parent].push_back(pid);
  }
}

DescendantUse ProcessTree::Below(std::uint32_t pid, const std::set<std::uint32_t>& traced) const {
  DescendantUse use;
  const auto self = processes_.find(pid);
  if (self == processes_.end()) return use;
  use.cpu_ns = TicksToNs(self->second.children_ticks);
  std::vector<std::uint32_t> next{pid};
  while (!next.empty()) {
    const auto children = children_.find(next.back());
    next.pop_back();
    if (children == children_.end()) continue;
    for (const std::uint32_t child : children->second) {
      if (child == pid || traced.contains(child)) continue;
      const StatLine& line = processes_.at(child);
      use.cpu_ns += TicksToNs(line.user_ticks + line.system_ticks + line.children_ticks);
      if (++use.processes <= kMostIoFiles) use.io_bytes += ReadIoBytes(roots_, child);
      next.push_back(child);
    }
  }
  return use;
}

bool IsBelow(const KernelRoots& roots, std::uint32_t pid, const std::set<std::uint32_t>& among) {
  constexpr int kMostGenerations = 32;
  for (int i = 0; i < kMostGenerations && pid > 1; ++i) {
    if (among.contains(pid)) return true;
    const auto line = ReadStat(roots, pid);
    if (!line.ok()) return false;
    pid = line->parent;
  }
  return false;
}

}  // namespace fathom::agent
