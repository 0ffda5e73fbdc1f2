#include "daemon/agent/self_metrics/http_server.h"

#include <civetweb.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/service/stop_server.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kThreads = 8;  // as in the options below

void Send(mg_connection* connection, int code, absl::string_view reason, absl::string_view body) {
  const std::string head = absl::StrCat(
      "HTTP/1.1 ", code, " ", reason,
      "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: ", body.size(),
      "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n",
      code == 405 ? "Allow: GET, HEAD\r\n" : "", "\r\n");
  mg_write(connection, head.data(), head.size());
  if (absl::string_view(mg_get_request_info(connection)->request_method) != "HEAD") {
    mg_write(connection, body.data(), body.size());
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HostPort& address,
                                                              HttpSources sources,
                                                              const service::TlsFiles& tls) {
  std::unique_ptr<HttpServer> server(new HttpServer(address, std::move(sources)));
  if (tls.on()) {
    auto made = service::ServerTls::Make(tls, HttpTlsNames());
    if (!made.ok()) return made.status();
    server->tls_ = *std::move(made);
  }
  const std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  const bool v6 = host.find(':') != std::string::npos;
  const std::string listen =
      absl::StrCat(v6 ? "[" : "", host, v6 ? "]:" : ":", address.port, tls.on() ? "s" : "");
  const char* options[] = {"listening_ports",    listen.c_str(), "num_threads", "8",
                           "request_timeout_ms", "5000",         nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
  if (server->tls_) callbacks.external_ssl_ctx = &HttpServer::GiveTls;
  mg_init_library(server->tls_ ? MG_FEATURES_SSL : 0);
  server->context_ = mg_start(&callbacks, server.get(), options);
  if (server->context_ == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", listen,
                                               ": is the port in use? choose another one with "
                                               "--http HOST:PORT, or --http \"\" for none"));
  }
  mg_server_port ports[1] = {};
  if (mg_get_server_ports(server->context_, 1, ports) == 1) {
    server->port_ = static_cast<std::uint16_t>(ports[0].port);
  }
  server->slow_peers_ = std::make_unique<service::SlowPeers>(server->port_, kThreads);
  mg_set_request_handler(server->context_, "/", &HttpServer::Handle, server.get());
  return server;
}

HttpServer::~HttpServer() {
  if (context_ == nullptr) return;
  service::StopServer(address_.host, port_, [this] { mg_stop(context_); });
}

int HttpServer::GiveTls(void** context, void* self) {
  *context = static_cast<HttpServer*>(self)->tls_->context();
  return 1;
}

int HttpServer::Handle(mg_connection* connection, void* self) {
  auto* server = static_cast<HttpServer*>(self);
  const mg_request_info* peer = mg_get_request_info(connection);
  const service::SlowPeers::Answering answering(*server->slow_peers_, peer->remote_addr,
                                                peer->remote_port);
  return server->Answer(connection);
}

int HttpServer::Answer(mg_connection* connection) {
  const mg_request_info* request = mg_get_request_info(connection);
  const absl::string_view method = request->request_method;
  const absl::string_view path = request->local_uri == nullptr ? "" : request->local_uri;
  if (method != "GET" && method != "HEAD") {
    Send(connection, 405, "Method Not Allowed", "only GET and HEAD\n");
  } else if (path == "/metrics") {
    Send(connection, 200, "OK", sources_.metrics());
  } else if (path == "/healthz") {
    Send(connection, 200, "OK", "ok\n");
  } else if (path == "/readyz") {
    const std::string why = sources_.not_ready();
    Send(connection, why.empty() ? 200 : 503, why.empty() ? "OK" : "Service Unavailable",
         why.empty() ? "ready\n" : why + "\n");
  } else {
    Send(connection, 404, "Not Found", "try /metrics, /healthz or /readyz\n");
  }
  return 1;
}

}  // namespace fathom::agent
