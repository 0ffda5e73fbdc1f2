// What the verbs of `fathom recover` share: their options, and the plan made of what the collector
// tells.
//
// Used by recover_command and recover_run_command. Thread-safety: single-threaded. Errors: those of
// CollectorApi; NotFound for a folder of checkpoints that cannot be read.
#ifndef FATHOM_COLLECTOR_CLI_NODES_RECOVER_PLANNING_H_
#define FATHOM_COLLECTOR_CLI_NODES_RECOVER_PLANNING_H_

#include <string>
#include <vector>

#include "collector/cli/command/verb.h"
#include "collector/recovery/recovery_facts.h"
#include "collector/recovery/recovery_plan.h"

namespace fathom::cli {

struct RecoverOptions {
  CollectorOptions collector;
  std::string job, checkpoints, format = "table";
  double left_hours = 0, restart_s = 0;
  // Of plan.
  bool migrate = false;
  std::string node;
  // Of run, undo and show.
  std::string config, journal, in_doubt;
  std::vector<std::string> despite;
  bool yes = false;
};

struct PlannedRecovery {
  collector::RecoveryFacts facts;
  collector::RecoveryPlan plan;
};

std::int64_t WallNow();
// What a plan is made of, asked of the collector over the network.
collector::RecoveryQuestions QuestionsTo(const CollectorApi& api, const std::string& job);
absl::StatusOr<PlannedRecovery> PlanOf(const CollectorApi& api, const RecoverOptions& options);

void AddPlanOptions(CLI::App& verb, RecoverOptions* options);
void AddRecoverRun(CLI::App& verb, Invocation* invocation);
void AddRecoverUndo(CLI::App& verb, Invocation* invocation);
void AddRecoverShow(CLI::App& verb, Invocation* invocation);
// Hidden: what the torchrun back-end runs on the nodes.
void AddRecoverNode(CLI::App& verb, Invocation* invocation);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_NODES_RECOVER_PLANNING_H_
