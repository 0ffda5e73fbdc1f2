// A request to a collector or fathom-cordon: one connection, one deadline.
//
// Used by CollectorApi, CordonClient, CallTransport, `fathom doctor` and the support bundle.
// Thread-safety: thread-compatible. Errors: those of Socket and ResponseParser; an HTTP status that
// is not 200 is a reply, not an error. The deadline covers resolving excepted, everything.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_HTTP_CLIENT_H_
#define FATHOM_COLLECTOR_CLI_HTTP_HTTP_CLIENT_H_

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/cli/http/host_port.h"
#include "collector/cli/http/response_parser.h"

namespace fathom::cli {

struct HttpReply {
  int status = 0;
  std::string body;
  double retry_after_s = 0;  // 0: not said
};

class HttpClient {
 public:
  struct Options {
    std::chrono::milliseconds timeout{5000};
    ResponseParser::Limits limits;
  };

  explicit HttpClient(HostPort server) : HttpClient(std::move(server), Options()) {}
  HttpClient(HostPort server, Options options)
      : server_(std::move(server)), options_(std::move(options)) {}

  // Requires: `target` is a path with its query, already percent-encoded.
  absl::StatusOr<HttpReply> Get(std::string_view target) const;
  absl::StatusOr<HttpReply> Post(std::string_view target, std::string_view json) const;

  // Requires: `request` holds the bytes of a whole request.
  absl::StatusOr<HttpReply> Send(const std::string& request) const;

  const HostPort& server() const { return server_; }

 private:
  HostPort server_;
  Options options_;
};

// The bytes of a GET request, with the server's token.
std::string GetRequest(const HostPort& server, std::string_view target, std::string_view accept);

// `text` with everything but unreserved characters as %XX.
std::string PercentEncode(std::string_view text);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_HTTP_CLIENT_H_
