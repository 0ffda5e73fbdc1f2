#include "collector/http/listener.h"

#include <absl/strings/str_cat.h>
#include <civetweb.h>

#include <array>
#include <string_view>

#include "collector/http/request.h"
#include "collector/http/sign_in.h"
#include "daemon/service/loopback.h"
#include "daemon/service/stop_server.h"

namespace fathom::collector {

std::string HeaderOf(mg_connection* connection, const char* name) {
  const char* value = mg_get_header(connection, name);
  return value != nullptr ? value : "";
}

namespace {

// The body, if it has at most `most` bytes; else empty.
std::string BodyOf(mg_connection* connection, std::size_t most) {
  std::string body;
  std::array<char, 1024> buffer;
  while (body.size() <= most) {
    const int got = mg_read(connection, buffer.data(), buffer.size());
    if (got <= 0) return body;
    body.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return "";
}

}  // namespace

Credentials Listener::CredentialsOf(mg_connection* connection,
                                    const std::string& proxy_header) const {
  const mg_request_info* info = mg_get_request_info(connection);
  Credentials who;
  who.peer = {info->remote_addr, info->remote_port, port_};
  who.token = TokenOfBearer(HeaderOf(connection, "Authorization"));
  if (who.token.empty()) who.token = TokenOfCookie(HeaderOf(connection, "Cookie"));
  if (!proxy_header.empty()) who.proxy_user = HeaderOf(connection, proxy_header.c_str());
  return who;
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Start(const std::string& address,
                                                          const service::TlsFiles& tls,
                                                          std::size_t threads,
                                                          const Settings& settings, Handle handle) {
  std::unique_ptr<Listener> listener(new Listener(std::move(handle)));
  HostPort& where = listener->where_;
  if (auto status = ParseHostPort(address, where); !status.ok()) return status;
  if (auto status = ProbeListen(address, "HTTP", "--http"); !status.ok()) return status;
  const bool v6 = where.host.find(':') != std::string::npos;
  const std::string host = where.host == "localhost" ? "127.0.0.1" : where.host;
  const std::string listen =
      absl::StrCat(v6 ? "[" : "", host, v6 ? "]:" : ":", where.port, tls.on() ? "s" : "");
  if (tls.on()) {
    // Of people none is asked for: the authority is that of agents, at the other port.
    auto made = service::ServerTls::Make({tls.cert_file, tls.key_file, ""});
    if (!made.ok()) return made.status();
    listener->tls_ = *std::move(made);
  }
  const std::string count = std::to_string(threads);
  std::vector<const char*> texts = {
      "num_threads",        count.c_str(), "listening_ports", listen.c_str(),
      "request_timeout_ms", "10000",       "decode_url",      "no",
      "max_request_size",   "16384"};
  for (const auto& [name, value] : settings) {
    texts.push_back(name.c_str());
    texts.push_back(value.c_str());
  }
  texts.push_back(nullptr);
  mg_callbacks callbacks{};
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
  if (listener->tls_) callbacks.external_ssl_ctx = &Listener::GiveTls;
  mg_init_library(listener->tls_ ? MG_FEATURES_SSL : 0);
  listener->context_ = mg_start(&callbacks, listener.get(), texts.data());
  mg_server_port ports[4];
  if (!listener->context_ || mg_get_server_ports(listener->context_, 4, ports) < 1) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, " for HTTP; choose another with --http"));
  }
  listener->port_ = ports[0].port;
  listener->slow_peers_ = std::make_unique<service::SlowPeers>(listener->port_, threads);
  mg_set_request_handler(listener->context_, "**", &Listener::Call, listener.get());
  return listener;
}

Listener::~Listener() {
  if (context_ == nullptr) return;
  service::StopServer(where_.host, port_, [this] { mg_stop(context_); });
}

bool Listener::HostIsServed(mg_connection* connection,
                            const std::vector<std::string>& allowed) const {
  return !service::IsLoopback(where_.host) || HostAllowed(HeaderOf(connection, "Host"), allowed);
}

int Listener::GiveTls(void** context, void* self) {
  *context = static_cast<const Listener*>(self)->tls_->context();
  return 1;
}

void Listener::Take(mg_connection* connection) const {
  const mg_request_info* info = mg_get_request_info(connection);
  std::string body;
  if (info->request_method != nullptr && std::string_view(info->request_method) == "POST") {
    body = BodyOf(connection, Request::kMaxBody);
  }
  const service::SlowPeers::Answering answering(*slow_peers_, info->remote_addr, info->remote_port);
  handle_(*this, connection, body);
}

int Listener::Call(mg_connection* connection, void* self) {
  const auto* listener = static_cast<const Listener*>(self);
  listener->Take(connection);
  return 1;
}

}  // namespace fathom::collector
