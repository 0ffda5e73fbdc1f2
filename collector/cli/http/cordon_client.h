// fathom-cordon's HTTP API as the command line uses it.
//
// Used by the verbs `action` and `get actions`.
// Thread-safety: thread-compatible. Errors: one line that says what to do: kUnavailable (nobody
// answers), kFailedPrecondition (it said no, with its reason), kInternal (no answer of this API).
#ifndef FATHOM_COLLECTOR_CLI_HTTP_CORDON_CLIENT_H_
#define FATHOM_COLLECTOR_CLI_HTTP_CORDON_CLIENT_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/cli/http/http_client.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

class CordonClient {
 public:
  explicit CordonClient(HostPort server) : client_(std::move(server)) {}

  absl::StatusOr<Json> Actions() const { return Fetch("/api/v1/actions", "actions"); }
  absl::StatusOr<Json> Plan() const { return Fetch("/api/v1/plan", "plan"); }
  // `path` below /api/v1/: "pause", "actions/ID/undo".
  absl::Status Command(std::string_view path, const std::string& reason) const;

 private:
  absl::StatusOr<Json> Fetch(std::string_view path, const char* must_have) const;
  absl::StatusOr<Json> Read(absl::StatusOr<HttpReply> reply) const;

  HttpClient client_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_CORDON_CLIENT_H_
