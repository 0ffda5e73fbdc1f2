// The control groups of a process, and what they say of its processor time.
//
// Used by process_facts, cpu_limit and stop_watch. Model: /proc/PID/cgroup names one group a
// hierarchy. Version 2 has one hierarchy ("0::/path"); of version 1 that with the controller asked
// for is meant. Outside of the agent's own cgroup namespace a path begins with "/..".
//
// Units: ns. Thread-safety: pure. Errors: none where the process is gone, or names no group.
// Cost: one small file.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_CONTROL_GROUPS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_CONTROL_GROUPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

struct ControlGroup {
  bool unified = false;  // version 2
  std::string root;      // folder of the hierarchy
  std::string path;      // within it, "/job/a"

  std::string folder() const { return root + path; }
};

std::vector<ControlGroup> ControlGroupsOf(const KernelRoots& roots, std::uint32_t pid,
                                          std::string_view controller = "cpu");

// How long a group was held back by its quota, as its cpu.stat tells.
std::optional<std::int64_t> ThrottledNsIn(std::string_view stat);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_CONTROL_GROUPS_H_
