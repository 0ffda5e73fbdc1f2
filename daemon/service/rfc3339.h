// A wall time as people and other programs read it: RFC 3339 in UTC with milliseconds.
//
// Used by LogLines, the collector's notices and fathom-cordon's objects at Kubernetes. Header only.
// Units: ns since 1970. Thread-safety: pure. Errors: none.
#ifndef FATHOM_DAEMON_SERVICE_RFC3339_H_
#define FATHOM_DAEMON_SERVICE_RFC3339_H_

#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>

#include "proto/types/time_units.h"

namespace fathom::service {

// "2030-12-31T23:59:59.999Z".
inline std::string Rfc3339(WallNs time) {
  const std::time_t seconds = time.ns / 1'000'000'000;
  const int millis = static_cast<int>(time.ns / 1'000'000 % 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof text - size, ".%03dZ", millis);
  return text;
}

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_RFC3339_H_
