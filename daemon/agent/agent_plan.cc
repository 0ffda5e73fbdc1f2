#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "daemon/agent/agent.h"
#include "daemon/service/budget/plan_message.h"
#include "daemon/service/budget/process_use.h"

namespace fathom::agent {

// How fast the rings are written to, and what the logs of their ranks hold.
void Agent::ObserveRings(double seconds, Observed& seen) {
  std::map<std::string, std::uint64_t> read, logged;
  for (const auto& [name, session] : sessions_) {
    const OpLog& log = session->pipeline().log();
    read[name] = session->ring().total;
    logged[name] = log.next();
    const auto grown = [&](const std::map<std::string, std::uint64_t>& before, std::uint64_t now) {
      const auto at = before.find(name);
      return at == before.end() ? 0.0 : static_cast<double>(now - at->second) / seconds;
    };
    const double records_per_s = grown(read_, read[name]);
    if (records_per_s > 0) {
      const double fills_s = static_cast<double>(session->capacity()) / records_per_s;
      seen.ring_s = seen.ring_s == 0 ? fills_s : std::min(seen.ring_s, fills_s);
    }
    seen.logs.push_back({static_cast<double>(log.next() - log.first()),
                         grown(logged_, logged[name]), settings_.log_minutes * 60});
  }
  read_ = std::move(read);
  logged_ = std::move(logged);
  seen.log_row_bytes = sizeof(OpRow);
  seen.log_most_rows = settings_.log_rows;
}

Observed Agent::Observe(std::int64_t now_ns) {
  Observed seen;
  seen.seconds = planned_ns_ == 0 ? 0 : static_cast<double>(now_ns - planned_ns_) * 1e-9;
  planned_ns_ = now_ns;
  seen.costs = meter_.Take();
  seen.process_cpu_s = service::ProcessCpuSeconds();
  seen.children_cpu_s = ChildrenCpuSeconds();
  if (hardware_ != nullptr) {
    for (const SourceState& source : hardware_->States()) {
      seen.hardware.push_back({source.cpu_seconds, source.samples, source.least_rest_s});
    }
  }
  seen.rest_s = rest_.Seconds();
  ObserveRings(std::max(seen.seconds, 1e-3), seen);
  const std::uint64_t sent = outbox_.counters().bytes_sent;
  seen.bytes = static_cast<double>(sent - std::exchange(planned_bytes_, sent));
  const OpStreamCounters ops = ops_.counters();
  seen.ops_wanted = ops_.wanted();
  seen.ops_sent = static_cast<double>(ops.ops - planned_ops_.ops);
  seen.ops_bytes = static_cast<double>(ops.bytes - planned_ops_.bytes);
  seen.ops_passed = static_cast<double>(ops.missed - planned_ops_.missed);
  planned_ops_ = ops;
  seen.rows_bytes = std::exchange(rows_bytes_, {});
  seen.memory = service::PrivateBytes(world_.roots.proc);
  return seen;
}

void Agent::KeepPacesOf(RankSession& session) const {
  const Paces& paces = planner_.plan().paces;
  const auto ms = [](double value) { return static_cast<std::int64_t>(value * 1e6); };
  session.SetPace({ms(paces.Of(Knob::kThreads)), ms(paces.Of(Knob::kWorkers))});
  session.pipeline().LimitLog(static_cast<std::size_t>(settings_.log_rows * paces.Of(Knob::kLog)));
}

void Agent::KeepPaces() {
  const Paces& paces = planner_.plan().paces;
  for (const auto& entry : sessions_) KeepPacesOf(*entry.second);
  if (hardware_ != nullptr) {
    hardware_->SetPace(Nanos::FromSeconds(paces.Of(Knob::kHardware) / 1e3));
  }
  ops_.Hold(paces.Of(Knob::kOps) == 0);
}

void Agent::SendPlan() {
  v1::AgentMessage message;
  *message.mutable_plan() =
      service::PlanMessageOf(planner_.plan(), world_.mono_now(), MonoToWall());
  outbox_.PutMomentary(std::move(message));
}

void Agent::LookAtPlan(std::int64_t now_ns) {
  const Observed seen = Observe(now_ns);
  if (planner_.Look(seen, MonoNs(now_ns))) {
    KeepPaces();
    spdlog::info("plan changed: {}", planner_.plan().why);
  }
  if (!planner_.plan().parts.empty()) SendPlan();
}

}  // namespace fathom::agent
