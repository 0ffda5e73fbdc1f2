#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/agent/agent.h"
#include "daemon/agent/session/drop_reason_name.h"
#include "daemon/service/budget/process_use.h"

namespace fathom::agent {

void Agent::AddToTotals(const RankSession& session, AgentTotals& totals) {
  const RingCounters& ring = session.ring();
  totals.records += ring.total;
  totals.records_dropped["overwritten"] += ring.lost;
  totals.records_dropped["torn"] += ring.torn;
  totals.records_dropped["invalid"] += ring.invalid;
  totals.records_dropped["unknown_kind"] += ring.unknown_kind;
  for (std::size_t i = 0; i < abi::kDropReasons; ++i) {
    const std::uint64_t count = session.control().drops[i];
    if (count > 0) totals.records_dropped[absl::StrCat("tracer_", DropReasonName(i))] += count;
  }
  totals.ops += session.pipeline().joiner_counters().ops;
  totals.iterations += static_cast<std::uint64_t>(session.pipeline().iterations_closed());
}

void Agent::UpdateTotals() {
  AgentTotals totals = ended_totals_;
  for (const auto& entry : sessions_) {
    AddToTotals(*entry.second, totals);
    const auto slack_ns = static_cast<double>(entry.second->pipeline().gpu_clock().slack_ns());
    totals.gpu_clock_slack_s = std::max(totals.gpu_clock_slack_s, slack_ns * 1e-9);
  }
  const RingCensus census = directory_.census();
  const OutboxCounters outbox = outbox_.counters();
  totals.rings_open = census.open;
  totals.rings_over_limit = census.over_limit;
  totals.rings_rejected = census.rejected_total;
  totals.bytes_sent = outbox.bytes_sent;
  totals.messages_dropped = outbox.dropped_by_kind;
  totals.rows_requests = totals_.rows_requests;
  if (spool_ != nullptr) totals.spool = spool_->counters();
  if (recorder_ != nullptr) {
    totals.recording_ops_dropped = recorder_->rows_dropped();
    totals.recording_blocks_dropped = recorder_->writer().blocks_dropped();
  }
  totals.ops_streamed = ops_.counters();
  totals.streams = link_ == nullptr ? 0 : link_->streams();
  totals.connected = connected();
  if (hardware_ != nullptr) totals.hardware = hardware_->States();
  totals.plan = planner_.plan();
  totals.cpu_seconds = service::ProcessCpuSeconds();
  totals_ = std::move(totals);
  metrics_.Update(totals_);
}

void Agent::SendCounters() {
  v1::AgentMessage message;
  v1::AgentCounters& counters = *message.mutable_counters();
  counters.set_records(totals_.records);
  counters.mutable_records_dropped()->insert(totals_.records_dropped.begin(),
                                             totals_.records_dropped.end());
  counters.set_ops(totals_.ops);
  counters.set_bytes_sent(totals_.bytes_sent);
  const OutboxCounters outbox = outbox_.counters();
  counters.set_messages_dropped(outbox.dropped);
  counters.mutable_messages_shed()->insert(outbox.dropped_by_kind.begin(),
                                           outbox.dropped_by_kind.end());
  counters.set_rings(static_cast<std::uint32_t>(totals_.rings_open));
  Record(message);
  outbox_.PutMomentary(std::move(message));
}

}  // namespace fathom::agent
