// The line in which agent and collector say where they listen.
//
//   fathom-collector ready grpc=127.0.0.1:41233 http=127.0.0.1:41234
//   fathomd ready http=127.0.0.1:41235
//
// Used by Companion. Thread-safety: pure function. Errors: kInvalidArgument for another line.
#ifndef FATHOM_COLLECTOR_CLI_RUN_READY_LINE_H_
#define FATHOM_COLLECTOR_CLI_RUN_READY_LINE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/cli/http/host_port.h"

namespace fathom::cli {

using Listening = std::map<std::string, HostPort, std::less<>>;  // "grpc", "http"

// The addresses that `program` announced. Unknown keys are kept, words without '=' skipped.
absl::StatusOr<Listening> ParseReadyLine(std::string_view line, std::string_view program);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_READY_LINE_H_
