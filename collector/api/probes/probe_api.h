// The part of the HTTP API that orders probes of nodes and shows what they found:
// /api/v1/probes, /api/v1/probes/ID, POST …/ID/stop, and /api/v1/nodes/NODE/probes.
//
// Called by Api. docs/formats/http_api.md is the contract; every POST is an operator's.
// Thread-safety: thread-safe (reads thread-safe parts). Ownership: refers to Parts, which outlive
// it. Errors: JSON {"error": what to do} with 400, 404, 405, 415 or 429. Cost: one message a node.
#ifndef FATHOM_COLLECTOR_API_PROBES_PROBE_API_H_
#define FATHOM_COLLECTOR_API_PROBES_PROBE_API_H_

#include <string>

#include "collector/agents/probe_requests.h"
#include "collector/agents/session_registry.h"
#include "collector/http/request.h"
#include "collector/job/state/job_table.h"
#include "collector/store/store.h"
#include "collector/verdict/verdict_ledger.h"

namespace fathom::collector {

class ProbeApi {
 public:
  struct Parts {
    ProbeRequests& probes;
    JobTable& jobs;
    SessionRegistry& registry;
    VerdictLedger& ledger;
    Store& store;
  };

  explicit ProbeApi(Parts parts) : parts_(parts) {}

  // Requires: segments begin with api, v1, and probes or nodes/NODE/probes.
  Response Answer(const Request& request) const;

 private:
  Response Probes(const Request& request) const;
  Response Ask(const Request& request) const;
  Response OfNode(const Request& request) const;

  const Parts parts_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_PROBES_PROBE_API_H_
