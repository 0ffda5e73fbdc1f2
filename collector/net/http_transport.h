// One HTTP request to somebody else's server, and its answer; injected so that tests can answer.
//
// Used by collector/notify, collector/cordon, CordonMirror and CordonRelay of collector/http.
// CurlTransport and CurlEach are the real ones. Thread-safety: as the implementation says. Errors:
// an HTTP status of whatever kind is an answer; Unavailable means that none came: the request may
// or may not have been carried out.
#ifndef FATHOM_COLLECTOR_NET_HTTP_TRANSPORT_H_
#define FATHOM_COLLECTOR_NET_HTTP_TRANSPORT_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace fathom::collector {

struct HttpCall {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  double timeout_s = 5;
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  double retry_after_s = 0;  // 0: not said
};

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  virtual absl::StatusOr<HttpAnswer> Send(const HttpCall& call) = 0;
};

// `text` with everything but unreserved characters as %XX.
std::string PercentEncoded(const std::string& text);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_HTTP_TRANSPORT_H_
