// A stand-in for the files libssl.so and libcrypto.so, so that Debian's civetweb can speak TLS.
//
// Loaded by server_tls.cc before civetweb looks for those names; built twice, once under each.
//
// Why: libcivetweb 1.15 of Debian 12 opens OpenSSL under its development names, which a machine
// without libssl-dev does not have, and asks it for SSL_get_peer_certificate, which is only a macro
// in OpenSSL 3; without it civetweb crashes at the first connection. A library that is loaded and
// carries the name is taken in place of the file; what it does not have itself is found in the real
// OpenSSL that it needs.
#include <openssl/ssl.h>

#undef SSL_get_peer_certificate
X509* SSL_get_peer_certificate(const SSL* connection);
X509* SSL_get_peer_certificate(const SSL* connection) {
  return SSL_get1_peer_certificate(connection);
}
