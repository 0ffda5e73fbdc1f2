#include "daemon/agent/source/held/cpu_limit.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "daemon/agent/source/process/control_groups.h"

namespace fathom::agent {

std::optional<double> CpuLimitReader::CoresIn(const std::string& folder) {
  if (const auto text = ReadSmallFile(folder + "/cpu.max"); text.ok()) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(*text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
    double quota = 0, period = 0;
    const bool limited = parts.size() == 2 && absl::SimpleAtod(parts[0], &quota) &&
                         absl::SimpleAtod(parts[1], &period) && quota > 0 && period > 0;
    return limited ? std::optional<double>(quota / period) : std::nullopt;  // "max 100000"
  }
  const auto quota = NumberIn(folder + "/cpu.cfs_quota_us");  // −1: none
  const auto period = NumberIn(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<CpuLimitReader::Counters> CpuLimitReader::ReadCounters(const std::string& folder) {
  const auto text = ReadSmallFile(folder + "/cpu.stat");
  const auto ns = text.ok() ? ThrottledNsIn(*text) : std::nullopt;
  if (!ns) return std::nullopt;
  return Counters{*ns, NumberAfter(*text, "nr_periods").value_or(0),
                  NumberAfter(*text, "nr_throttled").value_or(0)};
}

void CpuLimitReader::LookUp() {
  std::vector<Group> found;
  for (ControlGroup at : ControlGroupsOf(roots_, pid_)) {
    if (absl::StrContains(at.path, "/..")) continue;  // of another namespace
    while (at.path.size() > 1 && found.size() < kMostGroups) {
      const std::string folder = at.folder();
      if (const auto cores = CoresIn(folder)) found.push_back({folder, *cores, std::nullopt});
      at.path.resize(at.path.rfind('/'));
    }
  }
  for (Group& group : found) {
    for (const Group& known : groups_) {
      if (known.folder == group.folder) group.last = known.last;
    }
  }
  groups_ = std::move(found);
}

std::optional<CpuLimit> CpuLimitReader::Read(std::int64_t now_ns) {
  if (now_ns >= next_look_up_ns_) {
    next_look_up_ns_ = now_ns + look_up_ns_;
    LookUp();
  }
  if (groups_.empty()) return std::nullopt;
  sum_.cores = groups_.front().cores;
  Counters most;
  for (Group& group : groups_) {
    sum_.cores = std::min(sum_.cores, group.cores);
    const std::optional<Counters> now = ReadCounters(group.folder);
    if (!now) continue;
    const Counters last = std::exchange(group.last, now).value_or(*now);
    if (now->throttled_ns < last.throttled_ns || now->periods < last.periods) continue;  // anew
    sum_.throttled_ns += now->throttled_ns - last.throttled_ns;
    const std::uint64_t held = now->throttled_periods - last.throttled_periods;
    if (held > most.throttled_periods || most.periods == 0) {
      most = {0, now->periods - last.periods, held};
    }
  }
  sum_.periods += most.periods;
  sum_.throttled_periods += most.throttled_periods;
  return sum_;
}

}  // namespace fathom::agent
