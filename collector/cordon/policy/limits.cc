#include "collector/cordon/policy/limits.h"

#include <absl/strings/str_cat.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

namespace fathom::cordon {
namespace {

constexpr std::array<std::string_view, 4> kModes = {"observe", "advise", "approve", "auto"};
constexpr std::array<std::string_view, 3> kNodeCauses = {"compute_slow", "memory_slow",
                                                         "host_slow"};
constexpr std::array<std::string_view, 3> kNodeEntities = {"rank", "gpu", "host"};

template <typename Names>
bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status Between(const char* field, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", value, " is not between ", low, " and ", high));
}

absl::Status CheckGroups(const Limits& limits) {
  if (limits.groups.empty()) return absl::InvalidArgumentError("groups: at least one is needed");
  for (const NodeGroup& group : limits.groups) {
    if (group.name.empty()) return absl::InvalidArgumentError("groups: a group without a name");
    if (group.patterns.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("groups: ", group.name, " names no nodes"));
    }
  }
  for (const std::string& cause : limits.causes) {
    if (!IsNodeCause(cause)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "causes: '", cause, "' never cordons; known are compute_slow, memory_slow, host_slow"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view ToString(Mode mode) { return kModes[static_cast<std::size_t>(mode)]; }

bool ParseMode(std::string_view text, Mode& out) {
  const auto at = std::find(kModes.begin(), kModes.end(), text);
  if (at == kModes.end()) return false;
  out = static_cast<Mode>(at - kModes.begin());
  return true;
}

bool IsNodeCause(std::string_view cause) { return Contains(kNodeCauses, cause); }
bool IsNodeEntity(std::string_view entity_type) { return Contains(kNodeEntities, entity_type); }

const NodeGroup* Limits::GroupOf(const std::string& node) const {
  for (const NodeGroup& group : groups) {
    for (const std::string& pattern : group.patterns) {
      if (fnmatch(pattern.c_str(), node.c_str(), 0) == 0) return &group;
    }
  }
  return nullptr;
}

absl::Status Validate(const Limits& l) {
  constexpr double kYear = 366 * 86'400.0;
  for (const absl::Status& status :
       {CheckGroups(l),
        Between("min_age_s", l.min_age_s, 0, kYear),
        Between("second_look_s", l.second_look_s, 0, kYear),
        Between("sight_gap_s", l.sight_gap_s, 1, 3600),
        Between("fresh_s", l.fresh_s, 1, kYear),
        Between("max_nodes", l.max_nodes, 0, 1000),
        Between("max_ratio", l.max_ratio, 0, 1),
        Between("max_per_window", l.max_per_window, 0, 1000),
        Between("window_s", l.window_s, 1, kYear),
        Between("min_spacing_s", l.min_spacing_s, 0, kYear),
        Between("min_available_per_partition", l.min_available_per_partition, 0, 1),
        Between("min_available_per_job", l.min_available_per_job, 0, 1),
        Between("max_per_rack", l.max_per_rack, 1, 1000),
        Between("approval_ttl_s", l.approval_ttl_s, 1, kYear),
        Between("override_cooloff_s", l.override_cooloff_s, 0, kYear),
        Between("doubt_s", l.doubt_s, 1, 3600),
        Between("breaker_suspects", l.breaker_suspects, 2, 10'000),
        Between("breaker_failures", l.breaker_failures, 1, 100),
        Between("clock_jump_s", l.clock_jump_s, 1, 3600),
        Between("undo_delay_s", l.undo_delay_s, 0, kYear)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace fathom::cordon
