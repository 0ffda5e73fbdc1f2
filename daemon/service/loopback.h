// Which hosts only this machine reaches.
//
// Used by the checks of addresses of all daemons, by the collector's HTTP server and by the login,
// which asks who is at the other end. Model: names are not resolved; of names only "localhost" is
// taken, so that "127.example.com" is none.
// Header only. Thread-safety: pure. Errors: none.
#ifndef FATHOM_DAEMON_SERVICE_LOOPBACK_H_
#define FATHOM_DAEMON_SERVICE_LOOPBACK_H_

#include <string_view>

namespace fathom::service {

// `host` without brackets.
inline bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
}

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_LOOPBACK_H_
