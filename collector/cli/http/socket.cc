#include "collector/cli/http/socket.h"
#include "collector/cli/text/text.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace fathom::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

absl::Status Gone(int error) { return absl::UnavailableError(std::strerror(error)); }

// Waits until `events` are there. Errors: kDeadlineExceeded.
absl::Status Await(int fd, short events, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int wait_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
    pollfd wanted{fd, events, 0};
    const int ready = poll(&wanted, 1, wait_ms);
    if (ready > 0) return absl::OkStatus();
    if (ready == 0) return absl::DeadlineExceededError("no answer in time");
    if (errno != EINTR) return Gone(errno);
  }
}

absl::StatusOr<int> ConnectOne(const addrinfo& to, Deadline deadline) {
  const int fd =
      socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol);
  if (fd < 0) return Gone(errno);
  int error = connect(fd, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  absl::Status status;
  if (error == EINPROGRESS) {
    status = Await(fd, POLLOUT, deadline);
    socklen_t size = sizeof(error);
    if (status.ok()) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (status.ok() && error != 0) status = Gone(error);
  if (!status.ok()) {
    close(fd);
    return status;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

}  // namespace

absl::StatusOr<Socket> Socket::Connect(const HostPort& to, Deadline deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const std::string port = Cat(to.port);
  if (const int error = getaddrinfo(to.host.c_str(), port.c_str(), &hints, &list); error != 0) {
    return absl::InvalidArgumentError(gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  absl::Status last = absl::UnavailableError("no address");
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    absl::StatusOr<int> fd = ConnectOne(*at, deadline);
    if (!fd.ok()) {
      last = fd.status();
      continue;
    }
    Socket socket(*fd);
    if (!to.tls) return socket;
    auto tls = TlsStream::Open(*fd, to, [&](short events) { return Await(*fd, events, deadline); });
    if (!tls.ok()) return tls.status();
    socket.tls_ = *std::move(tls);
    return socket;
  }
  return last;
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

absl::Status Socket::Write(std::string_view bytes, Deadline deadline) {
  if (tls_) {
    return tls_->Write(bytes, [&](short events) { return Await(fd_, events, deadline); });
  }
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (absl::Status s = Await(fd_, POLLOUT, deadline); !s.ok()) return s;
    } else if (errno != EINTR) {
      return Gone(errno);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Socket::Read(std::string* out, Deadline deadline) {
  if (absl::Status s = Await(fd_, POLLIN, deadline); !s.ok()) return s;
  return ReadAvailable(out);
}

absl::StatusOr<bool> Socket::ReadAvailable(std::string* out) {
  if (tls_) return tls_->ReadAvailable(out);
  std::array<char, kReadBytes> buffer;
  for (;;) {
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      out->append(buffer.data(), static_cast<std::size_t>(got));
      return true;
    }
    if (got == 0) return false;
    if (errno == EAGAIN) return true;
    if (errno != EINTR) return Gone(errno);
  }
}

}  // namespace fathom::cli
