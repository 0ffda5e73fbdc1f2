#include "kernels/network/connection.h"

#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr double kLook = 0.05;  // seconds between looks at the stop path

struct Freed {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};
using Addresses = std::unique_ptr<addrinfo, Freed>;

Addresses Resolve(const std::string& host, const std::string& port, int flags, std::string& error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) error = host + ": " + gai_strerror(code);
  return Addresses(found);
}

int SocketFor(const addrinfo& address) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

}  // namespace

Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
  if (listening_ >= 0) close(listening_);
}

bool Connection::Fail(const std::string& what) {
  if (error_.empty()) error_ = what + ": " + std::strerror(errno);
  return false;
}

bool Connection::Wait(int fd, short events) {
  while (!bounds_.Stopped()) {
    const double left = deadline_ - WallSeconds();
    if (left <= 0) {
      errno = ETIMEDOUT;
      return false;
    }
    pollfd waited{.fd = fd, .events = events, .revents = 0};
    const int ready = poll(&waited, 1, 1 + static_cast<int>(1e3 * std::min(left, kLook)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  errno = ECANCELED;
  return false;
}

bool Connection::Connect(const std::string& host, const std::string& port) {
  const Addresses addresses = Resolve(host, port, 0, error_);
  if (addresses == nullptr) return false;
  fd_ = SocketFor(*addresses);
  if (fd_ < 0) return Fail("socket");
  if (connect(fd_, addresses->ai_addr, addresses->ai_addrlen) != 0 && errno != EINPROGRESS) {
    return Fail(host);
  }
  if (!Wait(fd_, POLLOUT)) return Fail(host);
  socklen_t size = sizeof errno;
  int failed = 0;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &failed, &size);
  errno = failed;
  return failed == 0 || Fail(host);
}

bool Connection::Listen(const std::string& host, std::uint16_t& port) {
  const Addresses addresses = Resolve(host, "0", AI_PASSIVE, error_);
  if (addresses == nullptr) return false;
  listening_ = SocketFor(*addresses);
  if (listening_ < 0 || bind(listening_, addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      listen(listening_, 1) != 0) {
    return Fail("listen");
  }
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (getsockname(listening_, reinterpret_cast<sockaddr*>(&own), &size) != 0) return Fail("listen");
  port = ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(own).sin_port);
  return true;
}

bool Connection::Accept() {
  if (!Wait(listening_, POLLIN)) return Fail("nobody came");
  fd_ = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  const int on = 1;
  if (fd_ >= 0) setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd_ >= 0 || Fail("accept");
}

bool Connection::Send(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(fd_, at, bytes, MSG_NOSIGNAL);
    if (sent > 0) {
      at += sent;
      bytes -= static_cast<std::size_t>(sent);
    } else if ((errno != EAGAIN && errno != EINTR) || !Wait(fd_, POLLOUT)) {
      return Fail("send");
    }
  }
  return true;
}

bool Connection::Receive(void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t received = recv(fd_, at, bytes, 0);
    if (received > 0) {
      at += received;
      bytes -= static_cast<std::size_t>(received);
      continue;
    }
    if (received == 0) errno = ECONNRESET;
    if ((errno != EAGAIN && errno != EINTR) || !Wait(fd_, POLLIN)) return Fail("receive");
  }
  return true;
}

Segments Connection::Sent() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {.sent = static_cast<double>(info.tcpi_segs_out),
          .again = static_cast<double>(info.tcpi_total_retrans)};
}

}  // namespace fathom::kernels
