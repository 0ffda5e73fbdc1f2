// HTTP and HTTPS through libcurl: verified certificates, one kept connection, no redirects.
//
// Made by Collector for receivers of notices and for fathom-cordon, and by the main of
// fathom-cordon for receivers, Kubernetes or a webhook, and the collector.
//
// TLS: the system's authorities or `ca_file`; TLS 1.2 at least; host names are always checked.
// Client certificate where given. Environment proxies are not used.
// Thread-safety: thread-safe (one request at a time). Errors: Unavailable with curl's words; the
// body is bounded at 64 MiB. Cost: a request keeps its thread for at most its time limit.
#ifndef FATHOM_COLLECTOR_NET_CURL_TRANSPORT_H_
#define FATHOM_COLLECTOR_NET_CURL_TRANSPORT_H_

#include <memory>
#include <string>
#include <utility>

#include "collector/net/http_transport.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

struct TlsOptions {
  std::string ca_file;    // empty: the system's
  std::string cert_file;  // client certificate and key, PEM; both or neither
  std::string key_file;
};

class CurlTransport final : public HttpTransport {
 public:
  explicit CurlTransport(TlsOptions tls = {});
  ~CurlTransport() override;

  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override;

 private:
  struct Handle;
  const TlsOptions tls_;
  service::Mutex mutex_;
  std::unique_ptr<Handle> handle_ ABSL_GUARDED_BY(mutex_);
};

// A connection of its own for each request: callers do not wait for one another. Thread-safety,
// errors and cost as above, and a handshake a request.
class CurlEach final : public HttpTransport {
 public:
  explicit CurlEach(TlsOptions tls = {}) : tls_(std::move(tls)) {}

  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    return CurlTransport(tls_).Send(call);
  }

 private:
  const TlsOptions tls_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_CURL_TRANSPORT_H_
