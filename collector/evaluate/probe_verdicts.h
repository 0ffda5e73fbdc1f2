// Keeps what probes found, and says of verdicts on nodes that were probed whether the measurement
// confirms or refutes them.
//
// Called by serve when an order for probes is done. Model: a fault or a slow figure of the node
// confirms every verdict on it. A clean node refutes a verdict only where the cause is one that a
// probe measures (computing, memory) and where the smallest loss that the probe would have seen is
// below what the verdict claims: a slowdown s of the job is a loss of 1 − 1/s at least. All else,
// a node that was not probed or cannot be judged among them, says nothing.
//
// Thread-safety: thread-safe (the ledger is). Errors: none. Cost: O(verdicts on the nodes).
#ifndef FATHOM_COLLECTOR_EVALUATE_PROBE_VERDICTS_H_
#define FATHOM_COLLECTOR_EVALUATE_PROBE_VERDICTS_H_

#include <functional>
#include <string>

#include "collector/agents/probe_requests.h"
#include "collector/store/store.h"
#include "collector/verdict/verdict_ledger.h"

namespace fathom::collector {

// Of a verdict that closed longer ago than this a probe says nothing any more.
inline constexpr Nanos kProvableFor{24ll * 3600 * 1'000'000'000};

ProbeProof ProofOf(const diagnosis::Verdict& verdict, const v1::NodeProbe& run,
                   std::uint64_t request_id, WallNs now);

// What was measured goes to the store; what came of each node is said.
void KeepProbes(const ProbeRequest& request, Store& store,
                const std::function<void(bool error, const std::string& line)>& say);

void ProveVerdicts(const ProbeRequest& request, const Clock& clock, VerdictLedger& ledger);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_PROBE_VERDICTS_H_
