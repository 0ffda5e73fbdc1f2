// What one traced process adds to the agent's totals.
//
// Used by Agent, once a second for each session and once for each that ends.
// Thread-safety: pure function. Cost: O(reasons).
#ifndef FATHOM_DAEMON_AGENT_SELF_METRICS_SESSION_TOTALS_H_
#define FATHOM_DAEMON_AGENT_SELF_METRICS_SESSION_TOTALS_H_

#include "daemon/agent/self_metrics/agent_metrics.h"
#include "daemon/agent/session/rank_session.h"

namespace fathom::agent {

void AddSession(const RankSession& session, AgentTotals& totals);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SELF_METRICS_SESSION_TOTALS_H_
