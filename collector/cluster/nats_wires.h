// Bus, leases and checkpoints on NATS, as the settings of a collector say.
//
// Called by Collector at its start. Errors: what cannot be reached, and what to do. Cost: some
// round trips.
#ifndef FATHOM_COLLECTOR_CLUSTER_NATS_WIRES_H_
#define FATHOM_COLLECTOR_CLUSTER_NATS_WIRES_H_

#include <absl/status/statusor.h>

#include "collector/bus/nats_connection.h"
#include "collector/cluster/cluster.h"

namespace fathom::collector {

// `term`: of the leases.
absl::StatusOr<ClusterWires> OpenNatsWires(NatsSettings settings, Nanos term, const Clock& clock);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_NATS_WIRES_H_
