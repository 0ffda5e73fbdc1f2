// What fathom-cordon may do: the mode of each group of nodes, and the brakes.
//
// Read by the policy; filled from the settings file by config/. Every default is on the careful
// side: out of the box nothing is ever done (mode observe).
//
// Units: seconds, ratios 0 to 1, counts of nodes. docs/operations/cordon.md lists all settings.
// Thread-safety: plain values. Errors: Validate gives InvalidArgument naming the field.
#ifndef FATHOM_COLLECTOR_CORDON_POLICY_LIMITS_H_
#define FATHOM_COLLECTOR_CORDON_POLICY_LIMITS_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::cordon {

enum class Mode : std::uint8_t {
  kObserve,  // writes down what it would do
  kAdvise,   // also tells people
  kApprove,  // acts once a person has approved
  kAuto,     // acts
};
std::string_view ToString(Mode mode);
// False: no such mode.
[[nodiscard]] bool ParseMode(std::string_view text, Mode& out);

struct NodeGroup {
  std::string name = "all";
  std::vector<std::string> patterns = {"*"};  // shell patterns of node names; first group wins
  Mode mode = Mode::kObserve;
};

struct Limits {
  std::vector<NodeGroup> groups = {NodeGroup{}};
  // Causes that lie in a node's own hardware; never network, job-wide or program causes.
  std::vector<std::string> causes = {"compute_slow", "memory_slow", "host_slow"};
  double min_age_s = 300;      // seen established without a gap for this long
  double second_look_s = 30;   // at least this much between the first look and the last
  double sight_gap_s = 60;     // not seen for so long: seen anew
  double fresh_s = 120;        // a verdict that no diagnosis saw for so long leads to nothing
  int max_nodes = 2;           // held back by fathom at once, by any instance
  double max_ratio = 0.05;     // of all nodes, rounded down
  int max_per_window = 2;      // actions begun within window_s
  double window_s = 3600;      //
  double min_spacing_s = 300;  // between two actions
  double min_available_per_partition = 0.8;  // share of its nodes that stays available
  double min_available_per_job = 0.5;        // share of its nodes that stays available
  int max_per_rack = 1;                      // suspects or held nodes behind one rack or switch
  double approval_ttl_s = 900;               // an approval that could not be used in time is void
  double override_cooloff_s = 86'400;        // a person undid ours: the node is left alone
  double doubt_s = 30;         // after an unclear answer, how long the change may still arrive
  int breaker_suspects = 4;    // this many suspect nodes at once: something else is wrong
  int breaker_failures = 3;    // failed actions in a row
  double clock_jump_s = 30;    // wall against monotonic clock, between two looks
  bool require_probe = false;  // mode auto acts on what a probe of the node confirms, alone
  bool auto_undo = false;      // when fathom itself took the verdict back
  double undo_delay_s = 600;

  const NodeGroup* GroupOf(const std::string& node) const;
};

// Causes and entities that may ever lead to an action, whatever is configured.
bool IsNodeCause(std::string_view cause);
bool IsNodeEntity(std::string_view entity_type);

absl::Status Validate(const Limits& limits);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_POLICY_LIMITS_H_
