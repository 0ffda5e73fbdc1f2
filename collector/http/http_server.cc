#include "collector/http/http_server.h"

#include <absl/strings/str_cat.h>
#include <civetweb.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "collector/http/listener.h"

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
    case 409:
      return "Conflict";
    case 415:
      return "Unsupported Media Type";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
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

  absl::Status Start() {
    const Listener::Settings settings = {
        {"num_threads", std::to_string(options_.max_event_clients + 8)},
        {"connection_queue", "64"},
        {"enable_keep_alive", "yes"},
        {"keep_alive_timeout_ms", "5000"},
        {"tcp_nodelay", "1"}};
    auto started = Listener::Start(options_.address, settings,
                                    [this](const auto& listener, mg_connection* connection) {
                                      Answer(listener, connection);
                                    });
    if (!started.ok()) return started.status();
    listener_ = *std::move(started);
    return absl::OkStatus();
  }

  int port() const { return listener_->port(); }

 private:
  void Answer(const Listener& listener, mg_connection* connection) {
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
    if (!listener.HostIsServed(connection, options_.allowed_hosts)) {
      Send(connection, Response::Error(403, "this host name is not served; see allowed_hosts"),
           head);
      return;
    }
    request->method = method;
    request->if_none_match = HeaderOf(connection, "If-None-Match");
    request->content_type = HeaderOf(connection, "Content-Type");
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
  std::unique_ptr<Listener> listener_;
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
