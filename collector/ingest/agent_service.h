// The gRPC server that agents connect to: one bidirectional stream each, and the health service; at
// a port, at a unix socket (local_port), or both.
//
// Owned by Collector. The only part that sees gRPC's headers is its .cc.
//
//   read ─► AgentSession::OnMessage ─► read again     one message in flight a stream: back pressure
//   rows requests ─► queue (≤ 64) ─┐
//   acknowledgement (newest only) ─┴► one write at a time
//
// Threads: gRPC's own; a stream's messages are handled one after the other. Thread-safety:
// thread-safe. Ownership: refers to the IngestContext, which outlives it. Errors: Start says which
// address could not be bound and what to do; a broken stream ends itself alone. Bounds: messages of
// 4 MiB, max_streams streams (more are refused with RESOURCE_EXHAUSTED), 512 MiB for buffers;
// connections as net/door says, four streams of each at once, ten seconds for a Hello, ten until a
// peer that vanished is noticed (docs/design/0016-the-port-of-agents.md). Files of TLS that change
// are taken within ten seconds.
#ifndef FATHOM_COLLECTOR_INGEST_AGENT_SERVICE_H_
#define FATHOM_COLLECTOR_INGEST_AGENT_SERVICE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <memory>
#include <string>

#include "collector/ingest/agent_session.h"
#include "collector/net/local_agents.h"
#include "daemon/service/tls_files.h"

namespace fathom::collector {

struct AgentServiceOptions {
  std::string address;              // "127.0.0.1:7071"; port 0: any; empty: no port
  std::string socket;               // path; empty: none
  bool socket_beside_port = false;  // in the place that agents derive from the port, if it can be
  bool reflection = false;
  std::size_t max_streams = 20'000;
  std::size_t max_connections_of_one = 64;  // address, loopback aside
  double max_agent_messages = 2'000;        // a second, of one agent (agent_budget.h)
  LocalAgents local_agents{};               // asked where agents show no certificate
  bool agent_wildcards = false;  // a certificate of *.example.org speaks for all nodes of it
  std::string version;           // told to agents
  service::TlsFiles tls{};  // with peer_ca_file agents must show a certificate of that authority
};

class AgentService {
 public:
  static absl::StatusOr<std::unique_ptr<AgentService>> Start(const AgentServiceOptions& options,
                                                             IngestContext& context);
  ~AgentService();  // ends all streams, within two seconds

  int port() const;            // 0: none
  std::string socket() const;  // empty: none
  std::size_t streams() const;
  // The health service answers SERVING from now on.
  void SetServing(bool serving);
  // Whether a connection to the port was let in when that was last tried, two seconds ago at most
  // and the time it took.
  bool answers() const;

 private:
  class Impl;
  explicit AgentService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_AGENT_SERVICE_H_
