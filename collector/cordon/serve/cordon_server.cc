#include "collector/cordon/serve/cordon_server.h"

#include <absl/strings/str_cat.h>
#include <civetweb.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

#include "collector/net/listen_probe.h"

namespace fathom::cordon {
namespace {

constexpr std::size_t kMaxBody = 4096;

std::string HeaderOf(mg_connection* connection, const char* name) {
  const char* value = mg_get_header(connection, name);
  return value != nullptr ? value : "";
}

std::string TokenOf(mg_connection* connection) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string header = HeaderOf(connection, "Authorization");
  return header.starts_with(kBearer) ? header.substr(kBearer.size()) : "";
}

std::string BodyOf(mg_connection* connection) {
  std::string body;
  std::array<char, 1024> buffer;
  while (body.size() < kMaxBody) {
    const int got = mg_read(connection, buffer.data(), buffer.size());
    if (got <= 0) break;
    body.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return body;
}

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
  explicit Impl(const CordonApi& api) : api_(api) {}

  ~Impl() {
    if (context_ == nullptr) return;
    // civetweb looks at its stop flag only between connections or every two seconds.
    std::atomic<bool> stopped{false};
    std::thread caller([this, &stopped] {
      while (!stopped) {
        collector::Touch(where_, port_);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    mg_stop(context_);
    stopped = true;
    caller.join();
  }

  absl::Status Start(const std::string& address) {
    if (auto status = collector::ParseHostPort(address, where_); !status.ok()) return status;
    if (auto status = collector::ProbeListen(address, "HTTP", "--http"); !status.ok())
      return status;
    const bool v6 = where_.host.find(':') != std::string::npos;
    const std::string host = where_.host == "localhost" ? "127.0.0.1" : where_.host;
    const std::string listen = absl::StrCat(v6 ? "[" : "", host, v6 ? "]:" : ":", where_.port);
    const char* settings[] = {"listening_ports",    listen.c_str(), "num_threads", "4",
                              "request_timeout_ms", "10000",        "decode_url",  "no",
                              "max_request_size",   "16384",        nullptr};
    mg_callbacks callbacks{};
    callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
    mg_init_library(0);
    context_ = mg_start(&callbacks, this, settings);
    mg_server_port ports[4];
    if (context_ == nullptr || mg_get_server_ports(context_, 4, ports) < 1) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", address, "; choose another with --http"));
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

  void Answer(mg_connection* connection) const {
    const mg_request_info* info = mg_get_request_info(connection);
    const std::string_view path = info->local_uri_raw != nullptr ? info->local_uri_raw : "/";
    auto line = collector::ParseTarget(path, "");
    if (!line) {
      return Send(connection, collector::Response::Error(400, "malformed address"), false);
    }
    if (collector::IsLoopback(where_.host) &&
        !collector::HostAllowed(HeaderOf(connection, "Host"), {})) {
      return Send(connection, collector::Response::Error(403, "this host is not served"), false);
    }
    line->method = info->request_method != nullptr ? info->request_method : "";
    const std::string body = line->method == "POST" ? BodyOf(connection) : "";
    const bool head = line->method == "HEAD";
    Send(connection, api_.Answer({*std::move(line), TokenOf(connection), body}), head);
  }

  const CordonApi& api_;
  collector::HostPort where_;
  mg_context* context_ = nullptr;
  int port_ = 0;
};

CordonServer::CordonServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CordonServer::~CordonServer() = default;
int CordonServer::port() const { return impl_->port(); }

absl::StatusOr<std::unique_ptr<CordonServer>> CordonServer::Start(const std::string& address,
                                                                  const CordonApi& api) {
  auto impl = std::make_unique<Impl>(api);
  if (auto status = impl->Start(address); !status.ok()) return status;
  return std::unique_ptr<CordonServer>(new CordonServer(std::move(impl)));
}

}  // namespace fathom::cordon
