#include "tests/cli/http/scripted_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fathom::cli {
namespace {

int ListenOnLoopback(std::uint16_t* port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  *port = ntohs(address.sin_port);
  return fd;
}

bool Readable(int fd, int wait_ms) {
  pollfd wanted{fd, POLLIN, 0};
  return poll(&wanted, 1, wait_ms) > 0;
}

}  // namespace

HostPort DeadPort() {
  HostPort out{"127.0.0.1", 0};
  close(ListenOnLoopback(&out.port));
  return out;
}

ScriptedServer::ScriptedServer(std::vector<std::string> pieces, End end)
    : pieces_(std::move(pieces)), end_(end), listener_(ListenOnLoopback(&port_)) {
  listen(listener_, 4);
  thread_ = std::thread([this] { Serve(); });
}

ScriptedServer::~ScriptedServer() {
  stop_ = true;
  thread_.join();
  close(listener_);
}

HostPort ScriptedServer::address() const { return {"127.0.0.1", port_}; }

void ScriptedServer::Serve() {
  while (!stop_ && !Readable(listener_, 5)) {
  }
  if (stop_) return;
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  char buffer[4096];
  while (!stop_ && request_.find("\r\n\r\n") == std::string::npos) {
    if (!Readable(fd, 5)) continue;
    const ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
    if (got <= 0) break;
    request_.append(buffer, static_cast<std::size_t>(got));
  }
  for (const std::string& piece : pieces_) {
    if (send(fd, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
  }
  while (!stop_ && end_ != End::kClose) {
    poll(nullptr, 0, 5);
    if (end_ == End::kDrip && send(fd, "x", 1, MSG_NOSIGNAL) < 0) break;
  }
  close(fd);
}

}  // namespace fathom::cli
