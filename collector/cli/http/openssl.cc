#include "collector/cli/http/openssl.h"

#include "collector/process/loaded_library.h"

namespace fathom::cli {

absl::StatusOr<const OpenSsl*> OpenSsl::Load() {
  static OpenSsl table;
  static const absl::Status status = table.Fill();
  if (!status.ok()) return status;
  return &table;
}

absl::Status OpenSsl::Fill() {
  collector::LoadedLibrary ssl(FATHOM_LIBSSL);
  ssl.Find("TLS_client_method", client_method);
  ssl.Find("SSL_CTX_new", context_new);
  ssl.Find("SSL_CTX_free", context_free);
  ssl.Find("SSL_CTX_ctrl", context_ctrl);
  ssl.Find("SSL_CTX_set_verify", context_set_verify);
  ssl.Find("SSL_CTX_set_default_verify_paths", context_set_default_verify_paths);
  ssl.Find("SSL_CTX_load_verify_locations", context_load_verify_locations);
  ssl.Find("SSL_new", ssl_new);
  ssl.Find("SSL_free", ssl_free);
  ssl.Find("SSL_ctrl", ssl_ctrl);
  ssl.Find("SSL_set_fd", set_fd);
  ssl.Find("SSL_get0_param", get0_param);
  ssl.Find("SSL_set1_host", set1_host);
  ssl.Find("SSL_connect", connect);
  ssl.Find("SSL_read", read);
  ssl.Find("SSL_write", write);
  ssl.Find("SSL_has_pending", has_pending);
  ssl.Find("SSL_get_error", get_error);
  ssl.Find("SSL_get_verify_result", get_verify_result);
  collector::LoadedLibrary crypto(FATHOM_LIBCRYPTO);
  crypto.Find("ERR_get_error", err_get);
  crypto.Find("ERR_peek_error", err_peek);
  crypto.Find("ERR_clear_error", err_clear);
  crypto.Find("ERR_reason_error_string", err_reason);
  crypto.Find("X509_VERIFY_PARAM_set1_ip_asc", param_set1_ip_asc);
  crypto.Find("X509_verify_cert_error_string", verify_error_string);
  return ssl.status().ok() ? crypto.status() : ssl.status();
}

}  // namespace fathom::cli
