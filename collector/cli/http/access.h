// What a person shows to a collector or to fathom-cordon: their token, and whom they trust.
//
// Used by every verb that talks to one. Both are files, so that no secret stands in a command line.
// Thread-safety: plain values; ServerOf reads a file. Errors: kInvalidArgument, kNotFound with a
// line that says what to do.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_ACCESS_H_
#define FATHOM_COLLECTOR_CLI_HTTP_ACCESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/cli/http/host_port.h"

namespace fathom::cli {

struct Access {
  std::string token_file;  // FATHOM_TOKEN_FILE
  std::string ca_file;     // FATHOM_CA_FILE

  // What is not named here is that of `usual`.
  Access OrElse(const Access& usual) const;
};
Access AccessFromEnvironment();
// fathom-cordon may have tokens of its own, in FATHOM_CORDON_TOKEN_FILE; else a person has one for
// both.
Access CordonAccess();

// HOST:PORT, or https://HOST:PORT for TLS, with what to show there. A token file that is not set is
// no error.
absl::StatusOr<HostPort> ServerOf(std::string_view address, const Access& access);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_ACCESS_H_
