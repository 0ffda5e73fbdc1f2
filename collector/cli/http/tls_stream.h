// TLS over a connected socket that does not wait, for the client's side.
//
// Used by Socket. TLS 1.2 or newer; the certificate must come from `ca_file`'s authority, or one of
// the system's, and name the host that was asked for.
//
// Thread-safety: thread-compatible. Ownership: refers to the descriptor, which outlives it.
// Errors: kUnavailable with the reason (a certificate that expired, is for another name, or of an
// unknown authority; a peer without TLS), kDeadlineExceeded, kInvalidArgument for a bad `ca_file`.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_TLS_STREAM_H_
#define FATHOM_COLLECTOR_CLI_HTTP_TLS_STREAM_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/cli/http/host_port.h"
#include "collector/cli/http/openssl.h"

namespace fathom::cli {

class TlsStream {
 public:
  // Waits until the descriptor is ready for `events` of poll(2).
  using Wait = std::function<absl::Status(short events)>;

  static absl::StatusOr<std::unique_ptr<TlsStream>> Open(int fd, const HostPort& to,
                                                         const Wait& wait);

  absl::Status Write(std::string_view bytes, const Wait& wait);
  // What there is, without waiting. False: the peer closed.
  absl::StatusOr<bool> ReadAvailable(std::string* out);

 private:
  using Connection = std::unique_ptr<SSL, decltype(&SSL_free)>;

  explicit TlsStream(const OpenSsl& openssl)
      : openssl_(openssl), connection_(nullptr, openssl.ssl_free) {}
  absl::Status SetUp(int fd, const HostPort& to);
  absl::Status Handshake(const HostPort& to, const Wait& wait);
  // Waits for what the last call wanted. Not ok: it failed for good.
  absl::Status Retry(int result, const Wait& wait);

  // Of OpenSSL's queue, which this empties.
  std::string LastError() const;

  const OpenSsl& openssl_;
  Connection connection_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_TLS_STREAM_H_
