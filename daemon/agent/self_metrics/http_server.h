// The agent's HTTP port: /metrics, /healthz, /readyz. Read only, no state.
//
// Made by agent; 405 for anything but GET and HEAD, 404 for any other path. With the files of TLS
// HTTPS only, and with an authority of clients only for whoever shows a certificate of it.
//
// Thread-safety: the callbacks run on civetweb's threads and must be thread-safe.
// Ownership: owns the listening socket and eight worker threads; the destructor stops them.
// Errors: Start returns Unavailable, naming the port, when it cannot be bound, and what is wrong
// with the files.
#ifndef FATHOM_DAEMON_AGENT_SELF_METRICS_HTTP_SERVER_H_
#define FATHOM_DAEMON_AGENT_SELF_METRICS_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/agent/config/settings.h"
#include "daemon/service/server_tls.h"
#include "daemon/service/slow_peers.h"

struct mg_context;
struct mg_connection;

namespace fathom::agent {

struct HttpSources {
  std::function<std::string()> metrics;
  std::function<std::string()> not_ready;  // empty: ready; else why not
};

class HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HostPort& address,
                                                           HttpSources sources,
                                                           const service::TlsFiles& tls = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::uint16_t port() const { return port_; }

 private:
  HttpServer(HostPort address, HttpSources sources)
      : address_(std::move(address)), sources_(std::move(sources)) {}
  static int Handle(mg_connection* connection, void* self);
  static int GiveTls(void** context, void* self);
  int Answer(mg_connection* connection);

  const HostPort address_;
  const HttpSources sources_;
  std::unique_ptr<service::ServerTls> tls_;  // null: none
  mg_context* context_ = nullptr;
  std::uint16_t port_ = 0;
  std::unique_ptr<service::SlowPeers> slow_peers_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SELF_METRICS_HTTP_SERVER_H_
