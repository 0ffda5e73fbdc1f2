// Requests of collector/kubernetes over the command line's own HTTP client, which needs no libcurl.
//
// Made by `fathom recover` for the API server of Kubernetes. Model: a connection a request; TLS
// where the address begins with https://, believed by `ca_file` or the system's authorities.
//
// Thread-safety: thread-compatible. Errors: InvalidArgument for an address that is none;
// Unavailable or DeadlineExceeded where no answer came: the request may have been carried out.
// Cost: at most the call's time limit.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_CALL_TRANSPORT_H_
#define FATHOM_COLLECTOR_CLI_HTTP_CALL_TRANSPORT_H_

#include <string>
#include <utility>

#include "collector/net/http_transport.h"

namespace fathom::cli {

class CallTransport final : public collector::HttpTransport {
 public:
  explicit CallTransport(std::string ca_file) : ca_file_(std::move(ca_file)) {}

  absl::StatusOr<collector::HttpAnswer> Send(const collector::HttpCall& call) override;

 private:
  const std::string ca_file_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_CALL_TRANSPORT_H_
