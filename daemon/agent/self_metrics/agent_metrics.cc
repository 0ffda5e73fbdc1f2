#include "daemon/agent/self_metrics/agent_metrics.h"

#include <prometheus/text_serializer.h>

#include <cmath>
#include <sstream>

namespace fathom::agent {
namespace {

prometheus::Family<prometheus::Gauge>& Gauges(prometheus::Registry& registry, const char* name,
                                              const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

}  // namespace

AgentMetrics::AgentMetrics(const std::string& version, const std::string& node)
    : records_(Count("fathom_records_total", "Records read from the rings")),
      dropped_(prometheus::BuildCounter()
                   .Name("fathom_records_dropped_total")
                   .Help("Records that were lost or not believed, by reason")
                   .Register(registry_)),
      ops_(Count("fathom_ops_total", "Communication ops joined from records")),
      iterations_(Count("fathom_iterations_total", "Iterations summarised, over all ranks")),
      bytes_sent_(Count("fathom_uplink_bytes_total", "Bytes of messages sent to the collector")),
      messages_dropped_(prometheus::BuildCounter()
                            .Name("fathom_uplink_messages_dropped_total")
                            .Help("Messages given up for want of room, by kind")
                            .Register(registry_)),
      rings_rejected_(Count("fathom_rings_rejected_total", "Ring files that were refused")),
      streams_(Count("fathom_uplink_streams_total", "Streams opened to the collector")),
      rows_requests_(Count("fathom_rows_requests_total", "Requests for rows answered")),
      recording_ops_dropped_(
          Count("fathom_recording_ops_dropped_total", "Ops that are not in the recording")),
      recording_blocks_dropped_(Count("fathom_recording_blocks_dropped_total",
                                      "Blocks of the recording that did not reach the disk")),
      ops_streamed_(Count("fathom_ops_streamed_total", "Ops sent to the collector all the time")),
      ops_streamed_bytes_(
          Count("fathom_ops_streamed_bytes_total", "Bytes of the blocks that they were packed in")),
      ops_missed_(Count("fathom_ops_missed_total",
                        "Ops that left the log before they could be sent all the time")),
      spool_bytes_(Gauges(registry_, "fathom_spool_bytes", "Bytes of the spool").Add({})),
      spool_write_errors_(Count("fathom_spool_write_errors_total",
                                "Writes of the spool that the disk did not take")),
      spool_damaged_(Count("fathom_spool_damaged_total",
                           "Records and torn tails that were skipped at the start")),
      spool_pushed_out_(Count("fathom_spool_pushed_out_total",
                              "Messages that its caps took before they were acknowledged")),
      cpu_seconds_(Count("fathom_agent_cpu_seconds_total", "Processor time of the agent itself")),
      rings_(Gauges(registry_, "fathom_rings", "Rings in the folder, by state")),
      connected_(
          Gauges(registry_, "fathom_uplink_connected", "1 while the collector answers").Add({})),
      hardware_up_(Gauges(registry_, "fathom_hardware_source_up",
                          "1 while a source of hardware readings works, by source")),
      hardware_samples_(prometheus::BuildCounter()
                            .Name("fathom_hardware_samples_total")
                            .Help("Samples of hardware, by source")
                            .Register(registry_)),
      hardware_cpu_(prometheus::BuildCounter()
                        .Name("fathom_hardware_cpu_seconds_total")
                        .Help("Processor time of those samples, by source")
                        .Register(registry_)),
      gpu_clock_slack_(Gauges(registry_, "fathom_gpu_clock_slack_seconds",
                              "How far GPU times may be off, of the rank where they may most")
                           .Add({})),
      budget_(Gauges(registry_, "fathom_budget",
                     "What the agent may take of its node, by resource; absent: no limit")),
      planned_(Gauges(registry_, "fathom_budget_spent",
                      "What its plan takes as measured, by resource, in the budget's units")),
      part_cpu_(Gauges(registry_, "fathom_plan_cpu_ratio",
                       "Share of a core that a part of its work takes, by part")),
      part_level_(Gauges(registry_, "fathom_plan_level",
                         "How coarsely it does a part of its work, 0 is the finest, by part")),
      plan_changes_(Count("fathom_plan_changes_total", "Times that the plan was changed")) {
  Gauges(registry_, "fathom_build_info", "1; version in the label")
      .Add({{"version", version}, {"component", "fathomd"}, {"node", node}})
      .Set(1);
  dropped_.Add({{"reason", "overwritten"}});
  messages_dropped_.Add({{"kind", "summary"}});
  for (std::size_t knob = 0; knob < kKnobs; ++knob) {
    const char* part = FactsOf(static_cast<Knob>(knob)).name;
    part_cpu_.Add({{"part", part}});
    part_level_.Add({{"part", part}});
  }
}

prometheus::Counter& AgentMetrics::Count(const std::string& name, const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add({});
}

void AgentMetrics::SetTo(prometheus::Counter& counter, double total) {
  if (total > counter.Value()) counter.Increment(total - counter.Value());
}

void AgentMetrics::Update(const AgentTotals& totals) {
  const auto set = [](prometheus::Counter& counter, std::uint64_t total) {
    SetTo(counter, static_cast<double>(total));
  };
  set(records_, totals.records);
  for (const auto& [reason, count] : totals.records_dropped) {
    set(dropped_.Add({{"reason", reason}}), count);
  }
  set(ops_, totals.ops);
  set(iterations_, totals.iterations);
  set(bytes_sent_, totals.bytes_sent);
  for (const auto& [kind, count] : totals.messages_dropped) {
    set(messages_dropped_.Add({{"kind", kind}}), count);
  }
  set(rings_rejected_, totals.rings_rejected);
  set(streams_, totals.streams);
  set(rows_requests_, totals.rows_requests);
  set(recording_ops_dropped_, totals.recording_ops_dropped);
  set(recording_blocks_dropped_, totals.recording_blocks_dropped);
  set(ops_streamed_, totals.ops_streamed.ops);
  set(ops_streamed_bytes_, totals.ops_streamed.bytes);
  set(ops_missed_, totals.ops_streamed.missed);
  spool_bytes_.Set(static_cast<double>(totals.spool.bytes));
  set(spool_write_errors_, totals.spool.write_errors);
  set(spool_damaged_, totals.spool.damaged);
  set(spool_pushed_out_, totals.spool.pushed_out);
  for (const SourceState& source : totals.hardware) {
    hardware_up_.Add({{"source", source.name}}).Set(source.state == "on" ? 1 : 0);
    set(hardware_samples_.Add({{"source", source.name}}), source.samples);
    SetTo(hardware_cpu_.Add({{"source", source.name}}), source.cpu_seconds);
  }
  SetTo(cpu_seconds_, totals.cpu_seconds);
  rings_.Add({{"state", "open"}}).Set(static_cast<double>(totals.rings_open));
  rings_.Add({{"state", "over_limit"}}).Set(static_cast<double>(totals.rings_over_limit));
  connected_.Set(totals.connected ? 1 : 0);
  gpu_clock_slack_.Set(totals.gpu_clock_slack_s);
  UpdatePlan(totals.plan);
}

void AgentMetrics::UpdatePlan(const NodePlan& plan) {
  const auto tell = [&](const char* resource, double limit, double spent) {
    if (std::isfinite(limit)) budget_.Add({{"resource", resource}}).Set(limit);
    planned_.Add({{"resource", resource}}).Set(spent);
  };
  tell("cores", plan.budget.cores, plan.spend.cores);
  tell("bytes_per_second", plan.budget.bytes_per_s, plan.spend.bytes_per_s);
  tell("memory_bytes", plan.budget.memory, plan.spend.memory);
  for (const PlanPart& part : plan.parts) {
    part_cpu_.Add({{"part", part.name}}).Set(part.spend.cores);
    if (part.levels > 1)
      part_level_.Add({{"part", part.name}}).Set(static_cast<double>(part.level));
  }
  SetTo(plan_changes_, static_cast<double>(plan.changes));
}

std::string AgentMetrics::Text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, registry_.Collect());
  return out.str();
}

}  // namespace fathom::agent
