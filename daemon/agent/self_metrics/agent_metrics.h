// The agent's own Prometheus metrics. Listed in docs/metrics.md.
//
// Updated by the poll loop from counters it keeps anyway; scraped by http_server.
//
// Thread-safety: thread-safe (prometheus-cpp's own).
// Ownership: owns the registry. Errors: none; a counter that would go back is left alone.
// Cost: a few hash look-ups an update, once a second.
#ifndef FATHOM_DAEMON_AGENT_SELF_METRICS_AGENT_METRICS_H_
#define FATHOM_DAEMON_AGENT_SELF_METRICS_AGENT_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/agent/budget/node_plan.h"
#include "daemon/agent/ops/op_stream_counters.h"
#include "daemon/agent/source/hardware/source_runner.h"
#include "daemon/agent/spool/spool.h"

namespace fathom::agent {

// Cumulative since the agent's start, over all rings, those of ended processes included.
struct AgentTotals {
  std::uint64_t records = 0;
  std::map<std::string, std::uint64_t> records_dropped;  // by reason
  std::uint64_t ops = 0;
  std::uint64_t iterations = 0;
  std::uint64_t bytes_sent = 0;
  std::map<std::string, std::uint64_t> messages_dropped;  // by kind
  std::uint64_t rings_rejected = 0;
  std::uint64_t streams = 0;
  std::uint64_t rows_requests = 0;
  std::uint64_t recording_ops_dropped = 0;
  std::uint64_t recording_blocks_dropped = 0;
  std::uint64_t rings_open = 0;
  std::uint64_t rings_over_limit = 0;
  SpoolCounters spool;
  OpStreamCounters ops_streamed;
  std::vector<SourceState> hardware;
  bool connected = false;
  double cpu_seconds = 0;
  NodePlan plan;
  double gpu_clock_slack_s = 0;  // of the rank that has most now; 0: no GPU times come
};

class AgentMetrics {
 public:
  AgentMetrics(const std::string& version, const std::string& node);

  void Update(const AgentTotals& totals);
  std::string Text() const;  // Prometheus text format 0.0.4

 private:
  prometheus::Counter& Count(const std::string& name, const std::string& help);
  void UpdatePlan(const NodePlan& plan);
  static void SetTo(prometheus::Counter& counter, double total);

  prometheus::Registry registry_;
  prometheus::Counter& records_;
  prometheus::Family<prometheus::Counter>& dropped_;
  prometheus::Counter& ops_;
  prometheus::Counter& iterations_;
  prometheus::Counter& bytes_sent_;
  prometheus::Family<prometheus::Counter>& messages_dropped_;
  prometheus::Counter& rings_rejected_;
  prometheus::Counter& streams_;
  prometheus::Counter& rows_requests_;
  prometheus::Counter& recording_ops_dropped_;
  prometheus::Counter& recording_blocks_dropped_;
  prometheus::Counter& ops_streamed_;
  prometheus::Counter& ops_streamed_bytes_;
  prometheus::Counter& ops_missed_;
  prometheus::Gauge& spool_bytes_;
  prometheus::Counter& spool_write_errors_;
  prometheus::Counter& spool_damaged_;
  prometheus::Counter& spool_pushed_out_;
  prometheus::Counter& cpu_seconds_;
  prometheus::Family<prometheus::Gauge>& rings_;
  prometheus::Gauge& connected_;
  prometheus::Family<prometheus::Gauge>& hardware_up_;
  prometheus::Family<prometheus::Counter>& hardware_samples_;
  prometheus::Family<prometheus::Counter>& hardware_cpu_;
  prometheus::Gauge& gpu_clock_slack_;
  prometheus::Family<prometheus::Gauge>& budget_;
  prometheus::Family<prometheus::Gauge>& planned_;
  prometheus::Family<prometheus::Gauge>& part_cpu_;
  prometheus::Family<prometheus::Gauge>& part_level_;
  prometheus::Counter& plan_changes_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SELF_METRICS_AGENT_METRICS_H_
