// HOST:PORT as it is given on the command line: "127.0.0.1:7070", "[::1]:7070", "node7:7070".
//
// Used by every verb that talks to a collector or hands an address to one.
// What goes beyond HOST:PORT comes from access.h. Thread-safety: plain value. Errors:
// kInvalidArgument with a message that says what is expected.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_HOST_PORT_H_
#define FATHOM_COLLECTOR_CLI_HTTP_HOST_PORT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fathom::cli {

struct HostPort {
  std::string host;        // without brackets
  std::uint16_t port = 0;  // 0 = any free one, where something is to listen
  std::string token{};     // shown to whoever is there; empty = none
  bool tls = false;
  std::string ca_file{};  // whose certificates are believed; empty = the system's authorities

  // "host:port", an IPv6 host in brackets.
  std::string ToString() const;
};

// Port 0 is accepted; who connects must check for it.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_HOST_PORT_H_
