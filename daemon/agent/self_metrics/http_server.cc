#include "daemon/agent/self_metrics/http_server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace fathom::agent {
namespace {

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

// Connects and hangs up. An address that is no loopback literal is left to the time-out.
void Knock(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  const int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  if (v6) {
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(port);
    to.sin6_addr = in6addr_loopback;
    (void)connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to));
  } else {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to));
  }
  close(fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HostPort& address,
                                                              HttpSources sources,
                                                              const service::TlsFiles& tls) {
  std::unique_ptr<HttpServer> server(new HttpServer(address, std::move(sources)));
  if (tls.on()) {
    const auto clients = tls.peer_ca_file.empty() ? service::ServerTls::Clients::kAnybody
                                                  : service::ServerTls::Clients::kCertified;
    auto made = service::ServerTls::Make(tls, HttpTlsNames(), clients);
    if (!made.ok()) return made.status();
    server->tls_ = *std::move(made);
  }
  const std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  const bool v6 = host.find(':') != std::string::npos;
  const std::string listen =
      absl::StrCat(v6 ? "[" : "", host, v6 ? "]:" : ":", address.port, tls.on() ? "s" : "");
  const char* options[] = {"listening_ports",    listen.c_str(), "num_threads", "2",
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
  mg_set_request_handler(server->context_, "/", &HttpServer::Handle, server.get());
  return server;
}

// civetweb 1.15 looks at its stop flag when a connection comes, or after two seconds: connections
// of our own let it look at once, so that the agent's end is not held up.
HttpServer::~HttpServer() {
  if (context_ == nullptr) return;
  std::atomic<bool> stopped{false};
  std::thread waker([this, &stopped] {
    while (!stopped) {
      Knock(address_.host, port_);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  mg_stop(context_);
  stopped = true;
  waker.join();
}

int HttpServer::GiveTls(void** context, void* self) {
  *context = static_cast<HttpServer*>(self)->tls_->context();
  return 1;
}

int HttpServer::Handle(mg_connection* connection, void* self) {
  return static_cast<HttpServer*>(self)->Answer(connection);
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
