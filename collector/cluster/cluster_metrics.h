// What a collector of several tells Prometheus of bus, leases and owners. docs/metrics.md.
//
// Called by the exporter at each scrape. Thread-safety: as its parts. Cost: some locks.
#ifndef FATHOM_COLLECTOR_CLUSTER_CLUSTER_METRICS_H_
#define FATHOM_COLLECTOR_CLUSTER_CLUSTER_METRICS_H_

#include "collector/cluster/cluster.h"
#include "collector/metrics/metric_page.h"

namespace fathom::collector {

void WriteClusterMetrics(const Cluster& cluster, MetricPage& page);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_CLUSTER_METRICS_H_
