#include "collector/cluster/cluster_metrics.h"

namespace fathom::collector {
namespace {

double Value(std::uint64_t count) { return static_cast<double>(count); }

void WriteBus(const Cluster::Figures& figures, bool up, MetricPage& page) {
  page.Gauge("fathom_bus_up", "1: bus and leases answer.").Set(up ? 1 : 0);
  page.Gauge("fathom_bus_waiting_records", "Records that the bus has not said it keeps.")
      .Set(Value(figures.bus.waiting));
  page.Gauge("fathom_bus_lag_records", "Records of owned jobs that are not taken in yet.")
      .Set(Value(figures.ownership.behind));
  page.Counter("fathom_bus_appended_records_total", "Records of agents' messages that it keeps.")
      .Set(Value(figures.bus.appended));
  page.Counter("fathom_bus_redelivered_records_total",
               "Records that were sent again, for nothing was heard of them.")
      .Set(Value(figures.bus.redelivered));
  page.Counter("fathom_bus_lost_records_total", "Records that waited and found no room.")
      .Set(Value(figures.bus.given_up));
  page.Counter("fathom_bus_errors_total", "Answers of the bus that were no.")
      .Set(Value(figures.bus.errors));
  page.Counter("fathom_bus_reconnects_total", "Times that its connection was made again.")
      .Set(Value(figures.bus.reconnects));
}

void WriteLeases(const Cluster::Figures& figures, const ClusterCounters& counters,
                 MetricPage& page) {
  page.Gauge("fathom_cluster_members", "Collectors that were heard of lately, with this one.")
      .Set(static_cast<double>(figures.members));
  page.Gauge("fathom_leases_held", "Jobs that this collector owns.")
      .Set(static_cast<double>(figures.ownership.jobs));
  page.Gauge("fathom_lease_age_seconds", "Since the oldest held lease was renewed.")
      .Set(figures.ownership.renewed_ago_s);
  auto changes = page.Counter("fathom_lease_changes_total", "Leases by what became of them.");
  changes.Set(Value(counters.taken), {{"what", "taken"}});
  changes.Set(Value(counters.lost), {{"what", "lost"}});
  changes.Set(Value(counters.handed_over), {{"what", "handed_over"}});
}

void WriteCheckpoints(const Cluster::Figures& figures, const ClusterCounters& counters,
                      MetricPage& page) {
  auto kept = page.Counter("fathom_cluster_checkpoints_total", "Checkpoints of owned jobs.");
  kept.Set(Value(counters.checkpoints_kept), {{"what", "kept"}});
  kept.Set(Value(counters.checkpoints_refused), {{"what", "refused"}});
  kept.Set(Value(counters.checkpoints_failed), {{"what", "failed"}});
  kept.Set(Value(counters.checkpoints_read), {{"what", "read"}});
  page.Gauge("fathom_cluster_checkpoint_bytes", "Of the newest ones, of all owned jobs together.")
      .Set(Value(figures.checkpoint_bytes));
  auto left = page.Counter("fathom_cluster_checkpoint_left_out_total",
                           "Records that checkpoints of too many bytes went without.");
  left.Set(Value(counters.left_out_told), {{"what", "told"}});
  left.Set(Value(counters.left_out_run), {{"what", "run"}});
  left.Set(Value(counters.left_out_account), {{"what", "account"}});
  left.Set(Value(counters.left_out_learnt), {{"what", "learnt"}});
  left.Set(Value(counters.left_out_verdicts), {{"what", "verdict"}});
}

}  // namespace

void WriteClusterMetrics(const Cluster& cluster, MetricPage& page) {
  const Cluster::Figures figures = cluster.figures();
  const ClusterCounters& counters = cluster.counters();
  WriteBus(figures, cluster.failing().empty(), page);
  WriteLeases(figures, counters, page);
  WriteCheckpoints(figures, counters, page);
  page.Counter("fathom_bus_read_records_total", "Records of owned jobs that were read.")
      .Set(Value(counters.records));
  page.Counter("fathom_bus_replayed_records_total", "Of them, when a job was taken.")
      .Set(Value(counters.replayed));
  auto bad = page.Counter("fathom_bus_unread_messages_total", "Messages left out, by why.");
  bad.Set(Value(counters.later), {{"why", "later_version"}});
  bad.Set(Value(counters.damaged), {{"why", "damaged"}});
  page.Counter("fathom_cluster_orders_total", "Orders to agents by way of their doors.")
      .Set(Value(counters.orders));
  page.Counter("fathom_cluster_announce_again_total",
               "Agents that were asked to say again who takes part.")
      .Set(Value(counters.announce_again));
  auto asked = page.Counter("fathom_cluster_requests_total", "Requests to other collectors.");
  asked.Set(Value(counters.forwarded), {{"result", "answered"}});
  asked.Set(Value(counters.unanswered), {{"result", "unanswered"}});
}

}  // namespace fathom::collector
