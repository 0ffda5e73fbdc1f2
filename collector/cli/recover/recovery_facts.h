// What a recovery plan is made of, asked of the collector, and the plan as text and JSON.
//
// Used by `fathom recover`. Thread-safety: thread-compatible. Errors: those of CollectorApi;
// NotFound for a job that is not known. Cost: four requests and one a node of interest, at most
// kMostAsked of them.
#ifndef FATHOM_COLLECTOR_CLI_RECOVER_RECOVERY_FACTS_H_
#define FATHOM_COLLECTOR_CLI_RECOVER_RECOVERY_FACTS_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "collector/cli/http/collector_api.h"
#include "collector/cli/recover/migration_plan.h"
#include "collector/cli/recover/recovery_plan.h"

namespace fathom::cli {

inline constexpr std::size_t kMostAsked = 64;

struct RecoveryFacts {
  SickJob job;
  std::vector<SpareNode> nodes;
  JobLayout layout;
};

absl::StatusOr<RecoveryFacts> AskForFacts(const CollectorApi& api, const std::string& job);

// Parts of it, out of the API's answers.
SickJob SickJobOf(const Json& job, const Json& verdicts);
std::vector<SpareNode> NodesOf(const Json& nodes, const Json& actions);

// As text, and as JSON.
std::string RecoveryText(const SickJob& job, const RecoveryPlan& plan);
Json RecoveryJson(const SickJob& job, const RecoveryPlan& plan);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RECOVER_RECOVERY_FACTS_H_
