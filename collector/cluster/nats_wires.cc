#include "collector/cluster/nats_wires.h"

#include <utility>

#include "collector/bus/nats_bus.h"
#include "collector/bus/nats_checkpoints.h"
#include "collector/bus/nats_leases.h"

namespace fathom::collector {

absl::StatusOr<ClusterWires> OpenNatsWires(NatsSettings settings, Nanos term, const Clock& clock) {
  const std::string name = settings.name;
  auto connection = NatsConnection::Open(std::move(settings));
  if (!connection.ok()) return connection.status();
  const std::shared_ptr<NatsConnection> ground = *std::move(connection);
  auto bus = NatsBus::Start(*ground);
  if (!bus.ok()) return bus.status();
  auto leases = NatsLeases::Open(*ground, name, term, clock);
  if (!leases.ok()) return leases.status();
  auto checkpoints = NatsCheckpoints::Open(*ground);
  if (!checkpoints.ok()) return checkpoints.status();
  return ClusterWires{ground, *std::move(bus), *std::move(leases), *std::move(checkpoints)};
}

}  // namespace fathom::collector
