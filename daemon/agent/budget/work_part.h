// The parts of the agent's work that are measured, and the meter that does it.
//
// Used by Agent and its sessions. Thread-safety: see cost_meter; here all of it is the poll loop's.
#ifndef FATHOM_DAEMON_AGENT_BUDGET_WORK_PART_H_
#define FATHOM_DAEMON_AGENT_BUDGET_WORK_PART_H_

#include <cstddef>
#include <cstdint>

#include "daemon/service/budget/cost_meter.h"

namespace fathom::agent {

enum class WorkPart : std::uint8_t {
  kPolling,    // a turn of the loop without what follows
  kRecords,    // records joined to ops; events: records
  kThreads,    // clocks of training threads; events: samples
  kWorkers,    // clocks of what makes batches; events: samples
  kSummaries,  // iterations told; events: iterations
  kHealth,     // of ranks and node; events: ranks
  kOps,        // every op sent; events: ops
  kRows,       // rows asked for; events: requests
};
inline constexpr std::size_t kWorkParts = 8;
const char* NameOf(WorkPart part);

using CostMeter = service::CostMeter<WorkPart, kWorkParts>;
using PartCosts = CostMeter::Costs;

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_BUDGET_WORK_PART_H_
