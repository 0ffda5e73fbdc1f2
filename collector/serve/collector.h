// The collector as a whole: builds its parts in order, starts them, and stops them in reverse.
//
// Made by main and by tests.
//
//   store ─ jobs, journal, agents ─ verdicts ─ diagnoser ─ API, events, metrics ─ gRPC ─ HTTP
//
// Start: what others depend on first; the ready line may be printed once Start has returned. Stop
// (the destructor): events, HTTP, gRPC (≤ 2 s), diagnoser, then the parts.
// Reload takes what may change while it runs, from settings read anew: who may do what, notify,
// notify_key_file, notify_routes, runbook_url and page_url. An error leaves everything as it was.
// `cordon_http` is the address of a fathom-cordon whose actions the page shows; empty: none. With
// `cordon_changes` operators tell it what to do through the page.
//
// With `cluster_bus` it is one of several (collector/cluster): agents' streams go by the bus, only
// jobs that it owns are judged, and at the end, after all was saved, it hands them over. `wires`
// are bus and leases in place of those that the settings name.
//
// Threads: one for the diagnoser, gRPC's, civetweb's. Thread-safety: the public functions are.
// Errors: Start gives one line that says which address and what to do.
#ifndef FATHOM_COLLECTOR_SERVE_COLLECTOR_H_
#define FATHOM_COLLECTOR_SERVE_COLLECTOR_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "collector/cluster/cluster.h"
#include "collector/config/collector_config.h"
#include "collector/evaluate/diagnoser.h"
#include "collector/process/clock.h"

namespace fathom::collector {

class Collector {
 public:
  static absl::StatusOr<std::unique_ptr<Collector>> Start(const FinalizedCollectorConfig& config,
                                                          DiagnosisFunctions functions,
                                                          const Clock& clock,
                                                          ClusterWires wires = {});
  ~Collector();

  absl::Status Reload(const FinalizedCollectorConfig& config);

  // Whether the diagnoser has come around since the last call.
  bool Turned();

  int grpc_port() const;             // 0: none
  std::string agent_socket() const;  // empty: none
  int http_port() const;
  // Why the store is not in its file, or there is no journal; empty: all is well.
  std::string degraded() const;

 private:
  struct Parts;
  explicit Collector(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_SERVE_COLLECTOR_H_
