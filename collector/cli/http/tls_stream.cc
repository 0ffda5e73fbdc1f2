#include "collector/cli/http/tls_stream.h"

#include <poll.h>

#include <array>

#include "collector/cli/text/text.h"

namespace fathom::cli {

absl::StatusOr<std::unique_ptr<TlsStream>> TlsStream::Open(int fd, const HostPort& to,
                                                           const Wait& wait) {
  const auto openssl = OpenSsl::Load();
  if (!openssl.ok()) return absl::UnavailableError(Cat("TLS: ", openssl.status().message()));
  std::unique_ptr<TlsStream> stream(new TlsStream(**openssl));
  if (absl::Status s = stream->SetUp(fd, to); !s.ok()) return s;
  if (absl::Status s = stream->Handshake(to, wait); !s.ok()) return s;
  return stream;
}

std::string TlsStream::LastError() const {
  const char* reason = openssl_.err_reason(openssl_.err_get());
  openssl_.err_clear();
  return reason != nullptr ? reason : "the connection broke off";
}

absl::Status TlsStream::SetUp(int fd, const HostPort& to) {
  const OpenSsl& o = openssl_;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(o.context_new(o.client_method()),
                                                                  o.context_free);
  o.context_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  o.context_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const bool trusted = to.ca_file.empty() ? o.context_set_default_verify_paths(context.get()) == 1
                                          : o.context_load_verify_locations(
                                                context.get(), to.ca_file.c_str(), nullptr) == 1;
  if (!trusted) {
    return absl::InvalidArgumentError(Cat(to.ca_file, " holds no certificate: ", LastError()));
  }
  connection_.reset(o.ssl_new(context.get()));
  o.set_fd(connection_.get(), fd);
  if (o.param_set1_ip_asc(o.get0_param(connection_.get()), to.host.c_str()) != 1) {
    // A name, no address.
    o.set1_host(connection_.get(), to.host.c_str());
    o.ssl_ctrl(connection_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(to.host.c_str()));
  }
  return absl::OkStatus();
}

absl::Status TlsStream::Retry(int result, const Wait& wait) {
  switch (openssl_.get_error(connection_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return wait(POLLIN);
    case SSL_ERROR_WANT_WRITE:
      return wait(POLLOUT);
    default:
      return absl::UnavailableError(LastError());
  }
}

absl::Status TlsStream::Handshake(const HostPort& to, const Wait& wait) {
  openssl_.err_clear();
  for (int result = 0; (result = openssl_.connect(connection_.get())) != 1;) {
    absl::Status status = Retry(result, wait);
    if (status.ok()) continue;
    const long found = openssl_.get_verify_result(connection_.get());
    if (found == X509_V_OK) return absl::Status(status.code(), Cat("TLS: ", status.message()));
    return absl::UnavailableError(Cat("the certificate of ", to.ToString(), ": ",
                                      openssl_.verify_error_string(found),
                                      "; name its authority with FATHOM_CA_FILE"));
  }
  return absl::OkStatus();
}

absl::Status TlsStream::Write(std::string_view bytes, const Wait& wait) {
  openssl_.err_clear();
  for (;;) {
    const int sent =
        openssl_.write(connection_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (sent > 0) return absl::OkStatus();  // all of it: partial writes are off
    if (absl::Status status = Retry(sent, wait); !status.ok()) return status;
  }
}

absl::StatusOr<bool> TlsStream::ReadAvailable(std::string* out) {
  openssl_.err_clear();
  std::array<char, 16 * 1024> buffer;
  do {
    const int got =
        openssl_.read(connection_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (got > 0) {
      out->append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    const int error = openssl_.get_error(connection_.get(), got);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return true;
    if (error == SSL_ERROR_ZERO_RETURN) return false;
    // A peer that hangs up without a farewell; whether the answer is whole is the parser's matter.
    if (ERR_GET_REASON(openssl_.err_peek()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return false;
    return absl::UnavailableError(LastError());
  } while (openssl_.has_pending(connection_.get()) != 0);
  return true;
}

}  // namespace fathom::cli
