#include "daemon/agent/self_metrics/session_totals.h"

#include "absl/strings/str_cat.h"
#include "daemon/agent/session/drop_reason_name.h"

namespace fathom::agent {

void AddSession(const RankSession& session, AgentTotals& totals) {
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

}  // namespace fathom::agent
