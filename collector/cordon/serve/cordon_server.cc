#include "collector/cordon/serve/cordon_server.h"

#include <absl/strings/str_cat.h>
#include <civetweb.h>

#include <string_view>

#include "collector/http/listener.h"

namespace fathom::cordon {
namespace {

constexpr std::size_t kThreads = 32;  // most wait for slow peers, if at all

void Send(mg_connection* connection, const collector::Response& response, bool head_only) {
  const std::string head = absl::StrCat(
      "HTTP/1.1 ", response.status, response.status == 200 ? " OK" : " Refused",
      "\r\nContent-Type: ", response.type, "\r\nContent-Length: ", response.body.size(),
      "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: "
      "close\r\n\r\n");
  mg_write(connection, head.data(), head.size());
  if (!head_only) mg_write(connection, response.body.data(), response.body.size());
}

}  // namespace

class CordonServer::Impl {
 public:
  Impl(const CordonApi& api, const collector::Login& login) : api_(api), login_(login) {}

  absl::Status Start(const std::string& address, const service::TlsFiles& tls) {
    auto started = collector::Listener::Start(
        address, tls, kThreads, {{"connection_queue", "64"}},
        [this](const auto& listener, mg_connection* connection, const std::string& body) {
          Answer(listener, connection, body);
        });
    if (!started.ok()) return started.status();
    listener_ = *std::move(started);
    return absl::OkStatus();
  }

  int port() const { return listener_->port(); }

 private:
  void Answer(const collector::Listener& listener, mg_connection* connection,
              const std::string& body) const {
    const mg_request_info* info = mg_get_request_info(connection);
    const std::string_view path = info->local_uri_raw != nullptr ? info->local_uri_raw : "/";
    auto line = collector::ParseTarget(path, "");
    if (!line) {
      return Send(connection, collector::Response::Error(400, "malformed address"), false);
    }
    if (!listener.HostIsServed(connection, {})) {
      return Send(connection, collector::Response::Error(403, "this host is not served"), false);
    }
    // Only the command line and servers send commands here; no page does.
    if (!collector::SameOrigin(collector::HeaderOf(connection, "Origin"),
                               collector::HeaderOf(connection, "Host"), {})) {
      return Send(connection, collector::Response::Error(403, "sent by a page of somebody else"),
                  false);
    }
    line->method = info->request_method != nullptr ? info->request_method : "";
    line->body = body;
    const bool head = line->method == "HEAD";
    const auto who = listener.CredentialsOf(connection, login_.proxy_header());
    Send(connection, api_.Answer({*std::move(line), who}), head);
  }

  const CordonApi& api_;
  const collector::Login& login_;
  std::unique_ptr<collector::Listener> listener_;
};

CordonServer::CordonServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CordonServer::~CordonServer() = default;
int CordonServer::port() const { return impl_->port(); }

absl::StatusOr<std::unique_ptr<CordonServer>> CordonServer::Start(const std::string& address,
                                                                  const service::TlsFiles& tls,
                                                                  const CordonApi& api,
                                                                  const collector::Login& login) {
  auto impl = std::make_unique<Impl>(api, login);
  if (auto status = impl->Start(address, tls); !status.ok()) return status;
  return std::unique_ptr<CordonServer>(new CordonServer(std::move(impl)));
}

}  // namespace fathom::cordon
