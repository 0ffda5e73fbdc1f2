// Tells the service manager how a daemon does: ready, reading its settings again, stopping, alive.
//
// Used by the mains of fathomd, fathom-collector and fathom-cordon.
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

#include <cstdint>
#include <string>

#include "proto/types/time_units.h"

namespace fathom::service {

class NotifySocket {
 public:
  // Takes the variables away, so that no child speaks for us. `companion`: of another program,
  // whose service it is.
  explicit NotifySocket(bool companion = false);
  ~NotifySocket();
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  void Ready();
  // Ready() follows, also where the settings were not taken.
  void Reloading();
  void Stopping();
  void Alive();
  // The longest that a loop may rest between two calls of Alive; 0: nobody watches.
  Nanos patience() const { return Nanos(half_.count / 2); }

 private:
  void Send(const std::string& text) const;

  std::string path_;
  Nanos half_{0};  // of the watchdog's time; 0: nobody watches
  std::int64_t next_ = 0;
  int fd_ = -1;
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_NOTIFY_SOCKET_H_
