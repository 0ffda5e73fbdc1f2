// `fathom get jobs|ranks|verdicts|nodes|runs`: lists what a collector knows. (`get actions` asks
// fathom-cordon; see action_command.cc.)
//
// Called by the verb; apart from it so that tests can call it. Writes the list to `out`.
// Thread-safety: thread-compatible. Errors: those of CollectorApi. Result: an exit code.
#ifndef FATHOM_COLLECTOR_CLI_COMMAND_GET_COMMAND_H_
#define FATHOM_COLLECTOR_CLI_COMMAND_GET_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/cli/http/collector_api.h"
#include "collector/cli/render/lists.h"

namespace fathom::cli {

struct ListRequest {
  std::string noun;    // jobs, ranks, verdicts, nodes, runs, actions, ledger, bandwidth, plan
  std::string job;     // for ranks and verdicts; empty: the only job, or all
  std::string node;    // for verdicts: those on this node, of all jobs; closed ones too
  std::string format;  // table, wide, json, yaml
  bool all = false;    // closed verdicts too
  std::string cordon_http = "127.0.0.1:7073";
};

// Requires: noun and format are known ones.
absl::StatusOr<int> Get(const CollectorApi& api, const ListRequest& request, const ListStyle& style,
                        std::string* out);

// `job`, or the collector's only job when it is empty. Errors: kInvalidArgument naming the jobs.
absl::StatusOr<std::string> OnlyJob(const CollectorApi& api, const std::string& job);

// `value` as JSON (indented) or YAML.
std::string Serialize(const Json& value, const std::string& format);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_COMMAND_GET_COMMAND_H_
