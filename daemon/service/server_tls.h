// The TLS of an HTTP server: TLS 1.2 or newer, and a certificate that is taken anew when its files
// change.
//
// Owned by the HTTP servers of the three daemons, which hand the context to civetweb.
//
// Model: each handshake looks at the files' times, at most once a second; new files that are good
// are used from then on, bad ones leave the old in force and say so in the log. Where
// `peer_ca_file` is given, whoever connects must show a certificate of it; it is read anew with
// them, and sessions are not resumed, so that an authority taken out counts for no handshake from a
// second later on. A connection that is open then stays open.
//
// Thread-safety: thread-safe. Ownership: owns the context, which must outlive all connections.
// Errors: those of CheckTlsFiles; Unavailable where the stand-ins of openssl_names.c are not there.
#ifndef FATHOM_DAEMON_SERVICE_SERVER_TLS_H_
#define FATHOM_DAEMON_SERVICE_SERVER_TLS_H_

#include <absl/status/statusor.h>

#include <memory>

#include "daemon/service/tls_files.h"

namespace fathom::service {

class ServerTls {
 public:
  // `names`: what the files' settings are called, for errors.
  static absl::StatusOr<std::unique_ptr<ServerTls>> Make(const TlsFiles& files,
                                                         const TlsNames& names = {});
  ~ServerTls();

  void* context() const;  // SSL_CTX

 private:
  class Impl;
  explicit ServerTls(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_SERVER_TLS_H_
