#include "daemon/service/notify_socket.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fathom::service {
namespace {

constexpr long long kLongest_us = 1'000'000'000'000;  // eleven days

std::string Take(const char* name) {
  const char* value = std::getenv(name);
  const std::string text = value != nullptr ? value : "";
  unsetenv(name);
  return text;
}

std::int64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

NotifySocket::NotifySocket(bool companion) {
  path_ = Take("NOTIFY_SOCKET");
  if (companion) path_.clear();
  const std::string pid = Take("WATCHDOG_PID");
  const std::string period = Take("WATCHDOG_USEC");
  const bool ours = pid.empty() || std::strtoll(pid.c_str(), nullptr, 10) == getpid();
  const long long period_us = std::min(std::strtoll(period.c_str(), nullptr, 10), kLongest_us);
  if (ours && !path_.empty() && period_us > 0) half_ = Nanos(period_us * 500);
  if (path_.size() >= sizeof(sockaddr_un{}.sun_path)) path_.clear();
  if (!path_.empty()) fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

NotifySocket::~NotifySocket() {
  if (fd_ >= 0) close(fd_);
}

void NotifySocket::Ready() { Send("READY=1"); }

void NotifySocket::Reloading() {
  Send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(Now() / 1000));
}

void NotifySocket::Stopping() { Send("STOPPING=1"); }

void NotifySocket::Alive() {
  if (half_.count <= 0 || Now() < next_) return;
  next_ = Now() + half_.count;
  Send("WATCHDOG=1");
}

void NotifySocket::Send(const std::string& text) const {
  if (fd_ < 0) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path_.data(), path_.size());
  if (path_[0] == '@') to.sun_path[0] = '\0';  // an abstract one
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
  [[maybe_unused]] const auto sent = sendto(fd_, text.data(), text.size(), MSG_NOSIGNAL,
                                            reinterpret_cast<const sockaddr*>(&to), size);
}

}  // namespace fathom::service
