#include "collector/cli/http/tls_stream.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <array>

#include "collector/cli/text.h"

namespace fathom::cli {
namespace {

std::string LastError() {
  const unsigned long code = ERR_get_error();
  const char* reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason != nullptr ? reason : "the connection broke off";
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsStream>> TlsStream::Open(int fd, const HostPort& to,
                                                           const Wait& wait) {
  std::unique_ptr<TlsStream> stream(new TlsStream());
  if (absl::Status s = stream->SetUp(fd, to); !s.ok()) return s;
  if (absl::Status s = stream->Handshake(to, wait); !s.ok()) return s;
  return stream;
}

absl::Status TlsStream::SetUp(int fd, const HostPort& to) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const bool trusted = to.ca_file.empty() ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                                          : SSL_CTX_load_verify_locations(
                                                context.get(), to.ca_file.c_str(), nullptr) == 1;
  if (!trusted) {
    return absl::InvalidArgumentError(Cat(to.ca_file, " holds no certificate: ", LastError()));
  }
  connection_.reset(SSL_new(context.get()));
  SSL_set_fd(connection_.get(), fd);
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection_.get()), to.host.c_str()) != 1) {
    // A name, no address.
    SSL_set1_host(connection_.get(), to.host.c_str());
    SSL_set_tlsext_host_name(connection_.get(), to.host.c_str());
  }
  return absl::OkStatus();
}

absl::Status TlsStream::Retry(int result, const Wait& wait) {
  switch (SSL_get_error(connection_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return wait(POLLIN);
    case SSL_ERROR_WANT_WRITE:
      return wait(POLLOUT);
    default:
      return absl::UnavailableError(LastError());
  }
}

absl::Status TlsStream::Handshake(const HostPort& to, const Wait& wait) {
  ERR_clear_error();
  for (int result = 0; (result = SSL_connect(connection_.get())) != 1;) {
    absl::Status status = Retry(result, wait);
    if (status.ok()) continue;
    const long found = SSL_get_verify_result(connection_.get());
    if (found == X509_V_OK) return absl::Status(status.code(), Cat("TLS: ", status.message()));
    return absl::UnavailableError(Cat("the certificate of ", to.ToString(), ": ",
                                      X509_verify_cert_error_string(found),
                                      "; name its authority with FATHOM_CA_FILE"));
  }
  return absl::OkStatus();
}

absl::Status TlsStream::Write(std::string_view bytes, const Wait& wait) {
  ERR_clear_error();
  for (;;) {
    const int sent = SSL_write(connection_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (sent > 0) return absl::OkStatus();  // all of it: partial writes are off
    if (absl::Status status = Retry(sent, wait); !status.ok()) return status;
  }
}

absl::StatusOr<bool> TlsStream::ReadAvailable(std::string* out) {
  ERR_clear_error();
  std::array<char, 16 * 1024> buffer;
  do {
    const int got = SSL_read(connection_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (got > 0) {
      out->append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    const int error = SSL_get_error(connection_.get(), got);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return true;
    if (error == SSL_ERROR_ZERO_RETURN) return false;
    // A peer that hangs up without a farewell; whether the answer is whole is the parser's matter.
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return false;
    return absl::UnavailableError(LastError());
  } while (SSL_has_pending(connection_.get()) != 0);
  return true;
}

}  // namespace fathom::cli
