#include "daemon/agent/source/process/control_groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace fathom::agent {

std::vector<ControlGroup> ControlGroupsOf(const KernelRoots& roots, std::uint32_t pid,
                                          std::string_view controller) {
  std::vector<ControlGroup> groups;
  const auto text = ReadSmallFile(absl::StrCat(roots.proc, "/", pid, "/cgroup"));
  if (!text.ok()) return groups;
  const std::string wanted(controller);
  for (const absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const bool unified = parts[0] == "0" && parts[1].empty();
    const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
    const bool has = std::count(controllers.begin(), controllers.end(), wanted) != 0;
    if (!unified && !has) continue;
    const std::string root = unified ? roots.cgroup : absl::StrCat(roots.cgroup, "/", wanted);
    groups.push_back({unified, root, std::string(parts[2])});
  }
  return groups;
}

// Version 2 says throttled_usec, version 1 throttled_time (ns).
std::optional<std::int64_t> ThrottledNsIn(std::string_view stat) {
  if (const auto us = NumberAfter(stat, "throttled_usec")) return *us * 1000;
  return NumberAfter(stat, "throttled_time");
}

}  // namespace fathom::agent
