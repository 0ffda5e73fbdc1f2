// Reads the file of notify_routes: YAML, a list of rules.
//
//   routes:
//     - owner: operations            # or a list; so for cause and job
//       cause: [compute_slow, link_slow]
//       job: "prod-*"
//       to: [oncall]                 # receivers' names; [] tells nobody
//       quiet: "22:00-07:00 +01:00"  # of what is not critical
//       labels: {team: dc}
//       runbook: https://wiki.example/slow-node
//
// Used by Finalize(). Thread-safety: pure but for the file. Errors: InvalidArgument, "FILE: route
// N: KEY: why", with the nearest known word where one is wrong. Cost: at most kMostRoutes rules.
#ifndef FATHOM_COLLECTOR_CONFIG_ROUTES_FILE_H_
#define FATHOM_COLLECTOR_CONFIG_ROUTES_FILE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "collector/notify/delivery.h"
#include "collector/notify/routes.h"

namespace fathom::collector {

inline constexpr std::size_t kMostRoutes = 200;

// An empty `file`: no rules. `receivers`: those that rules may name.
absl::StatusOr<std::vector<Route>> ReadRoutes(const std::string& file,
                                              const std::vector<Receiver>& receivers);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_ROUTES_FILE_H_
