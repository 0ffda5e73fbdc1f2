// Tells the service manager how a daemon does: ready, reading its settings again, stopping, alive.
//
// Used by the mains of fathomd, fathom-collector and fathom-cordon. Header only: they share no
// library.
//
// Model: the protocol of sd_notify(3), one datagram to the socket that NOTIFY_SOCKET names; does
// nothing where there is none. Alive is called as often as the loop that it vouches for turns, and
// speaks when half of WATCHDOG_USEC has gone by: a loop that stands still is restarted by the
// manager.
//
// Units: ns of CLOCK_MONOTONIC. Thread-safety: single-threaded, owned by main. Errors: none; a
// manager that does not listen is not our trouble. Cost of Alive: a clock call, seldom a datagram.
#ifndef FATHOM_DAEMON_SERVICE_NOTIFY_SOCKET_H_
#define FATHOM_DAEMON_SERVICE_NOTIFY_SOCKET_H_

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "proto/types/time_units.h"

namespace fathom::service {

class NotifySocket {
 public:
  // Takes the variables away, so that no child speaks for us. `companion`: of another program,
  // whose service it is.
  explicit NotifySocket(bool companion = false) {
    path_ = Take("NOTIFY_SOCKET");
    if (companion) path_.clear();
    const std::string pid = Take("WATCHDOG_PID");
    const std::string period = Take("WATCHDOG_USEC");
    const bool ours = pid.empty() || std::strtoll(pid.c_str(), nullptr, 10) == getpid();
    if (ours && !path_.empty()) half_ = Nanos(std::strtoll(period.c_str(), nullptr, 10) * 500);
    if (path_.size() >= sizeof(sockaddr_un{}.sun_path)) path_.clear();
    if (!path_.empty()) fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  }
  ~NotifySocket() {
    if (fd_ >= 0) close(fd_);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  void Ready() { Send("READY=1"); }
  // Ready() follows, also where the settings were not taken.
  void Reloading() { Send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(Now() / 1000)); }
  void Stopping() { Send("STOPPING=1"); }
  void Alive() {
    if (half_.count <= 0 || Now() < next_) return;
    next_ = Now() + half_.count;
    Send("WATCHDOG=1");
  }
  // The longest that a loop may rest between two calls of Alive; 0: nobody watches.
  Nanos patience() const { return Nanos(half_.count / 2); }

 private:
  static std::string Take(const char* name) {
    const char* value = std::getenv(name);
    const std::string text = value != nullptr ? value : "";
    unsetenv(name);
    return text;
  }
  static std::int64_t Now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
  void Send(const std::string& text) const {
    if (fd_ < 0) return;
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path_.data(), path_.size());
    if (path_[0] == '@') to.sun_path[0] = '\0';  // an abstract one
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
    [[maybe_unused]] const auto sent = sendto(fd_, text.data(), text.size(), MSG_NOSIGNAL,
                                              reinterpret_cast<const sockaddr*>(&to), size);
  }

  std::string path_;
  Nanos half_{0};  // of the watchdog's time; 0: nobody watches
  std::int64_t next_ = 0;
  int fd_ = -1;
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_NOTIFY_SOCKET_H_
