// Probes of other nodes: ordered from the collector, waited for, and shown.
//
// Used by `fathom probe --nodes` and `--job`. Thread-safety: thread-compatible. Units: real time.
// Errors: what the collector refuses, and DeadlineExceeded. Cost: a request a second.
#ifndef FATHOM_COLLECTOR_CLI_PROBE_ORDERED_PROBES_H_
#define FATHOM_COLLECTOR_CLI_PROBE_ORDERED_PROBES_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <functional>
#include <string>

#include "collector/cli/http/collector_api.h"

namespace fathom::cli {

struct ProbeOrderWish {
  std::string nodes, job, probes;
  int peers = 3;
  double seconds = 0;
  std::uint32_t memory_mib = 0;
  bool full = false, beside_training = false;
};

// The path of the POST that orders it.
std::string ProbeOrderPath(const ProbeOrderWish& wish);

// The order once it is done. `interrupted` is asked each second: true stops the probes.
absl::StatusOr<Json> OrderProbes(const CollectorApi& api, const ProbeOrderWish& wish,
                                 std::chrono::minutes patience,
                                 const std::function<bool()>& interrupted);

// A line a node, the figures that are slow below.
std::string OrderedProbesText(const Json& order);
// Whether any node is slow or faulty, and whether any was measured.
bool AnyFound(const Json& order);
bool AnyMeasured(const Json& order);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROBE_ORDERED_PROBES_H_
