#include "collector/http/http_server.h"

#include <absl/strings/str_cat.h>
#include <civetweb.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "collector/net/listen_probe.h"

namespace fathom::collector {
namespace {

constexpr char kSecurityHeaders[] =
    "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cache-Control: no-cache\r\n";

std::string Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

std::string HeaderOf(mg_connection* connection, const char* name) {
  const char* value = mg_get_header(connection, name);
  return value ? value : "";
}

bool Write(mg_connection* connection, std::string_view text) {
  return mg_write(connection, text.data(), text.size()) == static_cast<int>(text.size());
}

void Send(mg_connection* connection, const Response& response, bool head_only) {
  std::string head = absl::StrCat("HTTP/1.1 ", response.status, " ", Reason(response.status),
                                  "\r\nContent-Type: ", response.type,
                                  "\r\nContent-Length: ", response.body.size(), "\r\n");
  if (response.status == 405) head.append("Allow: GET, HEAD\r\n");
  if (!response.etag.empty()) head.append("ETag: " + response.etag + "\r\n");
  head.append(kSecurityHeaders).append("\r\n");
  if (Write(connection, head) && !head_only) Write(connection, response.body);
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, const Api& api, EventHub& events)
      : options_(options), api_(api), events_(events) {}

  ~Impl() {
    if (!context_) return;
    // civetweb looks at its stop flag only between connections or every two seconds.
    std::atomic<bool> stopped{false};
    std::thread caller([&] {
      while (!stopped) {
        Touch(where_, port_);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    mg_stop(context_);
    stopped = true;
    caller.join();
  }

  absl::Status Start() {
    if (auto status = ParseHostPort(options_.address, where_); !status.ok()) return status;
    if (auto status = ProbeListen(options_.address, "HTTP", "--http"); !status.ok()) return status;
    const bool v6 = where_.host.find(':') != std::string::npos;
    const std::string host = where_.host == "localhost" ? "127.0.0.1" : where_.host;
    const std::string listen = absl::StrCat(v6 ? "[" : "", host, v6 ? "]:" : ":", where_.port);
    const std::string threads = std::to_string(options_.max_event_clients + 8);
    const char* settings[] = {"listening_ports",
                              listen.c_str(),
                              "num_threads",
                              threads.c_str(),
                              "request_timeout_ms",
                              "10000",
                              "max_request_size",
                              "16384",
                              "connection_queue",
                              "64",
                              "enable_keep_alive",
                              "yes",
                              "keep_alive_timeout_ms",
                              "5000",
                              "tcp_nodelay",
                              "1",
                              "decode_url",
                              "no",
                              nullptr};
    mg_callbacks callbacks{};
    callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
    mg_init_library(0);
    context_ = mg_start(&callbacks, this, settings);
    mg_server_port ports[4];
    if (!context_ || mg_get_server_ports(context_, 4, ports) < 1) {
      return absl::UnavailableError(absl::StrCat("cannot listen on ", options_.address,
                                                 " for HTTP; choose another with --http"));
    }
    port_ = ports[0].port;
    mg_set_request_handler(context_, "**", &Impl::Handle, this);
    return absl::OkStatus();
  }

  int port() const { return port_; }

 private:
  static int Handle(mg_connection* connection, void* self) {
    static_cast<Impl*>(self)->Answer(connection);
    return 1;
  }

  void Answer(mg_connection* connection) {
    const mg_request_info* info = mg_get_request_info(connection);
    const std::string_view method = info->request_method ? info->request_method : "";
    // The undecoded one: a slash in a job's name must not split it.
    const std::string_view path = info->local_uri_raw ? info->local_uri_raw : "/";
    auto request = ParseTarget(path, info->query_string ? info->query_string : "");
    const bool head = method == "HEAD";
    if (!request) {
      Send(connection, Response::Error(400, "the address of the request is malformed"), head);
      return;
    }
    if (IsLoopback(where_.host) &&
        !HostAllowed(HeaderOf(connection, "Host"), options_.allowed_hosts)) {
      Send(connection, Response::Error(403, "this host name is not served; see allowed_hosts"),
           head);
      return;
    }
    request->method = method;
    request->if_none_match = HeaderOf(connection, "If-None-Match");
    if (request->path == "/api/v1/events" && method == "GET") {
      StreamEvents(connection, request->Text("job"));
      return;
    }
    Send(connection, api_.Answer(*request), head);
  }

  void StreamEvents(mg_connection* connection, const std::string& job) {
    const auto subscription = events_.Subscribe(job);
    if (subscription == nullptr) {
      Send(connection, Response::Error(503, "too many listeners; try again later"), false);
      return;
    }
    std::string text =
        absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", kSecurityHeaders,
                     "Connection: close\r\n\r\n", "retry: 2000\n\n");
    for (const auto& object : api_.JobObjects(job)) text += EventHub::Format("job", object);
    while (Write(connection, text)) {
      const std::chrono::milliseconds patience(options_.heartbeat_ms);
      switch (subscription->Next(patience, text)) {
        case Subscription::Wake::kOver:
          return;
        case Subscription::Wake::kIdle:
          text = ": still here\n\n";
          break;
        case Subscription::Wake::kEvent:
          break;
      }
    }
  }

  const HttpOptions options_;
  const Api& api_;
  EventHub& events_;
  HostPort where_;
  mg_context* context_ = nullptr;
  int port_ = 0;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options,
                                                              const Api& api, EventHub& events) {
  auto impl = std::make_unique<Impl>(options, api, events);
  if (auto status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const { return impl_->port(); }

}  // namespace fathom::collector
