// The files of one side of a TLS connection, and whether they are any good.
//
// Used by the settings of the three daemons, and by their servers.
//
// Times: the wall clock, against the certificate's own. Thread-safety: plain values; pure but for
// reading the files. Errors: InvalidArgument, one line with the setting, the path and the reason:
// not there, not readable, not PEM, not yet valid, expired, a key that belongs to another
// certificate.
#ifndef FATHOM_DAEMON_SERVICE_TLS_FILES_H_
#define FATHOM_DAEMON_SERVICE_TLS_FILES_H_

#include <absl/status/status.h>

#include <string>

#include "proto/types/time_units.h"

namespace fathom::service {

struct TlsFiles {
  std::string cert_file{};  // PEM, with its intermediates behind it
  std::string key_file{};
  std::string peer_ca_file{};  // authority of the other side

  // For a server.
  bool on() const { return !cert_file.empty(); }
};

// What the settings are called, for errors.
struct TlsNames {
  std::string cert = "tls_cert", key = "tls_key", peer_ca = "tls_client_ca";
};

// Each file that is set; certificate and key both or neither.
absl::Status CheckTlsFiles(const TlsFiles& files, const TlsNames& names, WallNs now);

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_TLS_FILES_H_
