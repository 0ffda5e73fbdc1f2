// The functions of OpenSSL that TlsStream calls, loaded at the first connection over TLS.
//
// Types and constants come from OpenSSL's headers; its macros over SSL_ctrl() and SSL_CTX_ctrl()
// are spelled out by the caller. See collector/process/loaded_library.h for why.
//
// Thread-safety: Load() may be called from any thread; what it returns is constant and never goes.
// Errors: Unavailable, with the name of the library.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_OPENSSL_H_
#define FATHOM_COLLECTOR_CLI_HTTP_OPENSSL_H_

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include "absl/status/statusor.h"

namespace fathom::cli {

struct OpenSsl {
  static absl::StatusOr<const OpenSsl*> Load();

  decltype(&::TLS_client_method) client_method = nullptr;
  decltype(&::SSL_CTX_new) context_new = nullptr;
  decltype(&::SSL_CTX_free) context_free = nullptr;
  decltype(&::SSL_CTX_ctrl) context_ctrl = nullptr;
  decltype(&::SSL_CTX_set_verify) context_set_verify = nullptr;
  decltype(&::SSL_CTX_set_default_verify_paths) context_set_default_verify_paths = nullptr;
  decltype(&::SSL_CTX_load_verify_locations) context_load_verify_locations = nullptr;

  decltype(&::SSL_new) ssl_new = nullptr;
  decltype(&::SSL_free) ssl_free = nullptr;
  decltype(&::SSL_ctrl) ssl_ctrl = nullptr;
  decltype(&::SSL_set_fd) set_fd = nullptr;
  decltype(&::SSL_get0_param) get0_param = nullptr;
  decltype(&::SSL_set1_host) set1_host = nullptr;
  decltype(&::SSL_connect) connect = nullptr;
  decltype(&::SSL_read) read = nullptr;
  decltype(&::SSL_write) write = nullptr;
  decltype(&::SSL_has_pending) has_pending = nullptr;
  decltype(&::SSL_get_error) get_error = nullptr;
  decltype(&::SSL_get_verify_result) get_verify_result = nullptr;

  decltype(&::ERR_get_error) err_get = nullptr;
  decltype(&::ERR_peek_error) err_peek = nullptr;
  decltype(&::ERR_clear_error) err_clear = nullptr;
  decltype(&::ERR_reason_error_string) err_reason = nullptr;
  decltype(&::X509_VERIFY_PARAM_set1_ip_asc) param_set1_ip_asc = nullptr;
  decltype(&::X509_verify_cert_error_string) verify_error_string = nullptr;

 private:
  absl::Status Fill();
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_OPENSSL_H_
