#include "collector/serve/cluster_duties.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "collector/cluster/nats_wires.h"

namespace fathom::collector {

absl::Status ClusterDuties::Taken(const std::string& job, Leases::Token token,
                                  const v1::BusCheckpoint* checkpoint) {
  const absl::Status status = parts_.store.Fence(job, token);
  if (!status.ok() && !absl::IsUnavailable(status)) return status;
  parts_.store.TakeUp(job, checkpoint == nullptr ? nullptr : &checkpoint->memory());
  const std::vector<Episode> open = parts_.store.Verdicts(job, true, Store::kMaxVerdicts);
  std::set<std::string> ids;
  for (const Episode& each : open) ids.insert(each.id);
  if (!ids.empty()) parts_.notifier.Adopt(parts_.outbox.OfEpisodes(ids));
  for (const Episode& each : open) {
    if (parts_.ledger.Adopt(each)) parts_.tell(each);
  }
  return absl::OkStatus();
}

void ClusterDuties::Lost(const std::string& job) {
  std::set<std::string> ids;
  for (const Episode& each : parts_.ledger.Of(job)) ids.insert(each.id);
  parts_.notifier.Drop(ids);
  parts_.ledger.Forget(job);
  parts_.jobs.Forget(job);
  parts_.checkpoints.Forget(job);
}

absl::StatusOr<std::unique_ptr<Cluster>> JoinCluster(const FinalizedCollectorConfig& config,
                                                     ClusterWires wires, Cluster::Parts parts) {
  const ClusterConfig& c = config->cluster;
  if (wires.bus == nullptr) {
    constexpr double kGib = 1u << 30;
    auto opened = OpenNatsWires({.urls = c.bus,
                                 .name = c.name,
                                 .credentials_file = c.credentials,
                                 .ca_file = c.ca,
                                 .replicas = c.replicas,
                                 .log_bytes = static_cast<std::int64_t>(c.log_gib * kGib),
                                 .log = parts.log},
                                Nanos::FromSeconds(c.lease_s), parts.clock);
    if (!opened.ok()) return opened.status();
    wires = *std::move(opened);
  }
  return Cluster::Start({c.name, static_cast<std::size_t>(config->max_agent_jobs)},
                        std::move(wires), std::move(parts));
}

}  // namespace fathom::collector
