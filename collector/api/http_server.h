// The HTTP server: sockets, limits, security headers and the event stream around Api.
//
// Owned by Collector. civetweb does the protocol; only the .cc sees it.
//
// Who may: /healthz, /readyz, the page's own files (they hold no data), /login and POST /logout are
// for everybody; everything else that is read needs a viewer, every other POST an operator
// (login/login.h). A POST that a browser sends must come from a page of this server. Each POST that
// needs an operator leaves a line in the log with the person's name and what came of it.
//
// Threads: civetweb's, max_event_clients + 16; a listener of events holds one for as long as it
// stays. Thread-safety: thread-safe. Ownership: refers to Api, EventHub and Login, which
// outlive it; Stop the hub first, so that its listeners leave. Errors: Start says which address and
// what to do. Bounds: requests of 16 KiB, 10 s for a request or a stuck write, 64 waiting
// connections; a listener gets a comment line every 10 s so that dead ones are noticed.
#ifndef FATHOM_COLLECTOR_API_HTTP_SERVER_H_
#define FATHOM_COLLECTOR_API_HTTP_SERVER_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "collector/http/answerer.h"
#include "collector/http/event_hub.h"
#include "collector/http/login.h"
#include "daemon/service/tls_files.h"

namespace fathom::collector {

struct HttpOptions {
  std::string address;  // "127.0.0.1:7070"; port 0: any
  std::vector<std::string> allowed_hosts;
  std::size_t max_event_clients = 32;
  int heartbeat_ms = 10'000;
  service::TlsFiles tls{};
};

class HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpOptions& options,
                                                           const Answerer& api, EventHub& events,
                                                           Login& login);
  ~HttpServer();  // waits for the requests at hand

  int port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_HTTP_SERVER_H_
