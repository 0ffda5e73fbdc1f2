#include "collector/api/http_server.h"

#include <absl/strings/str_cat.h>
#include <civetweb.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "collector/http/json_writer.h"
#include "collector/http/listener.h"
#include "collector/http/sign_in.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kThreads = 16;  // beside those of listeners of events

// A document with a form may send it here and says so by its referrer; others do neither.
std::string SecurityHeaders(bool form) {
  return absl::StrCat(
      "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
      "form-action ",
      form ? "'self'" : "'none'", "\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: ",
      form ? "same-origin" : "no-referrer",
      "\r\nCross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-cache\r\n");
}

std::string Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
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
    case 429:
      return "Too Many Requests";
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
  if (response.status == 401) head.append("WWW-Authenticate: Bearer\r\n");
  if (response.status == 429) head.append("Retry-After: 60\r\n");
  head.append(response.headers).append(SecurityHeaders(response.form)).append("\r\n");
  if (Write(connection, head) && !head_only) Write(connection, response.body);
}

int StatusOf(const absl::Status& why) {
  return absl::IsUnauthenticated(why)     ? 401
         : absl::IsPermissionDenied(why)  ? 403
         : absl::IsResourceExhausted(why) ? 429
                                          : 503;
}

Role Needed(const Request& request) {
  if (request.method == "POST") return Role::kOperator;
  const std::string first = request.segments.empty() ? "" : request.segments.front();
  return first == "api" || first == "metrics" ? Role::kViewer : Role::kNobody;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, const Answerer& api, EventHub& events, Login& login)
      : options_(options), api_(api), events_(events), login_(login) {}

  absl::Status Start() {
    const Listener::Settings settings = {{"connection_queue", "64"},
                                         {"enable_keep_alive", "yes"},
                                         {"keep_alive_timeout_ms", "5000"},
                                         {"tcp_nodelay", "1"}};
    auto started = Listener::Start(
        options_.address, options_.tls, options_.max_event_clients + kThreads, settings,
        [this](const auto& listener, mg_connection* connection, const std::string& body) {
          Answer(listener, connection, body);
        });
    if (!started.ok()) return started.status();
    listener_ = *std::move(started);
    return absl::OkStatus();
  }

  int port() const { return listener_->port(); }

 private:
  void Answer(const Listener& listener, mg_connection* connection, const std::string& body) {
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
    request->body = body;
    AnswerPerson(listener, connection, *std::move(request));
  }

  void AnswerPerson(const Listener& listener, mg_connection* connection, Request request) {
    const bool head = request.method == "HEAD";
    const bool post = request.method == "POST";
    if (post && !SameOrigin(HeaderOf(connection, "Origin"), HeaderOf(connection, "Host"),
                            options_.allowed_hosts)) {
      return Send(connection, Response::Error(403, "sent by a page of somebody else"), head);
    }
    const auto who = listener.CredentialsOf(connection, login_.proxy_header());
    const std::string only = request.segments.size() == 1 ? request.segments.front() : "";
    if (only == "login") return Send(connection, SignIn(who, request), head);
    if (only == "logout" && post) return Send(connection, SignedIn("", "", false), head);
    if (const Role needed = Needed(request); needed != Role::kNobody) {
      const auto admitted = login_.Admit(who, needed);
      if (!admitted.ok()) {
        const absl::Status& why = admitted.status();
        return Send(connection, Response::Error(StatusOf(why), std::string(why.message())), head);
      }
      request.person = *admitted;
      request.token = who.token;
    }
    if (request.path == "/api/v1/events" && request.method == "GET") {
      return StreamEvents(connection, request.Text("job"));
    }
    const Response response = api_.Answer(request);
    if (post) {
      spdlog::info("{} from {}: POST {} -> {}", request.person.name, who.peer.address,
                   CutText(request.path, 200), response.status);
    }
    Send(connection, response, head);
  }

  Response SignIn(Credentials who, const Request& request) const {
    if (request.method != "POST") return SignInPage(200, "", request.Text("at"));
    auto fields = FormFields(request.body);
    who.token = fields["token"];
    if (who.token.empty()) return SignInPage(401, "Give a token.", fields["at"]);
    const auto person = login_.Admit(who, Role::kViewer);
    if (person.ok() && !person->name.empty()) {
      spdlog::info("{} signed in from {}", person->name, who.peer.address);
      return SignedIn(who.token, fields["at"], options_.tls.on());
    }
    if (person.ok()) {
      return SignInPage(404, "No login is set up here: everybody may read.", fields["at"]);
    }
    const int status = StatusOf(person.status());
    return SignInPage(status,
                      status == 429 ? "Too many wrong tokens from here; wait a minute."
                                    : "This token is not taken.",
                      fields["at"]);
  }

  void StreamEvents(mg_connection* connection, const std::string& job) {
    const auto subscription = events_.Subscribe(job);
    if (subscription == nullptr) {
      Send(connection, Response::Error(503, "too many listeners; try again later"), false);
      return;
    }
    std::string text =
        absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n",
                     SecurityHeaders(false), "Connection: close\r\n\r\n", "retry: 2000\n\n");
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
  const Answerer& api_;
  EventHub& events_;
  Login& login_;
  std::unique_ptr<Listener> listener_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options,
                                                              const Answerer& api, EventHub& events,
                                                              Login& login) {
  auto impl = std::make_unique<Impl>(options, api, events, login);
  if (auto status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const { return impl_->port(); }

}  // namespace fathom::collector
