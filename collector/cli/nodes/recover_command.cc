// `fathom recover plan JOB`: what would get the job to run well again, what it costs, and whether
// it pays; and the verb's other nouns.
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/nodes/recover_planning.h"
#include "collector/cli/recover/checkpoints.h"
#include "collector/cli/recover/migration_plan.h"
#include "collector/cli/recover/recovery_text.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"
#include "collector/recovery/recovery_json.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom recover plan train --checkpoints /scratch/train/ckpt --left-hours 20\n"
    "  fathom recover plan train --migrate --node n17\n"
    "  fathom recover run train --config recover.yaml --checkpoints /scratch/train/ckpt\n"
    "  fathom recover undo train --config recover.yaml\n"
    "  fathom recover show train\n"
    "A plan changes nothing; run asks before it does. Exit codes of plan: 2 it advises to act, 0 "
    "it does not, 1 there is no plan; of run and undo: 0 done, 1 not, and why.";

std::string PlanText(const PlannedRecovery& planned, const MigrationPlan* moved,
                     const std::string& format) {
  const collector::SickJob& job = planned.facts.job;
  if (IsText(format)) {
    const std::string restart = RecoveryText(job, planned.plan);
    return moved == nullptr ? restart : Cat(restart, "\n", MigrationText(*moved));
  }
  Json json = collector::RecoveryJson(job, planned.plan);
  if (moved != nullptr) json["migration"] = MigrationJson(*moved);
  return Serialize(json, format);
}

int Plan(const RecoverOptions& options) {
  const absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("recover", api.status());
  const auto planned = PlanOf(*api, options);
  if (!planned.ok()) return Fail("recover", planned.status());
  const collector::SickJob& sick = planned->facts.job;
  std::optional<MigrationPlan> moved;
  if (options.migrate) {
    const absl::StatusOr<Json> job = api->Job(sick.name);
    if (!job.ok()) return Fail("recover", job.status());
    moved = PlanMigration(LayoutOf(*job), sick.node, planned->plan.spare);
  }
  std::fputs(PlanText(*planned, moved ? &*moved : nullptr, options.format).c_str(), stdout);
  return planned->plan.advice == "act" && !options.collector.exit_zero ? kCulpritFound
                                                                       : kNothingFound;
}

}  // namespace

std::int64_t WallNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

collector::RecoveryQuestions QuestionsTo(const CollectorApi& api, const std::string& job) {
  return {.job = [&api, job] { return api.Job(job); },
          .verdicts = [&api, job] { return api.Verdicts(job, true); },
          .nodes = [&api] { return api.Nodes(); },
          .actions = [&api] { return api.Actions(); },
          .probes = [&api](const std::string& node) { return api.NodeProbes(node); }};
}

absl::StatusOr<PlannedRecovery> PlanOf(const CollectorApi& api, const RecoverOptions& options) {
  const absl::StatusOr<std::string> job = OnlyJob(api, options.job);
  if (!job.ok()) return job.status();
  auto facts = AskForFacts(QuestionsTo(api, *job));
  if (!facts.ok()) return facts.status();
  if (!options.node.empty()) facts->job.node = options.node;
  std::vector<Checkpoint> checkpoints;
  if (!options.checkpoints.empty()) {
    auto found = FindCheckpoints(options.checkpoints);
    if (!found.ok()) return found.status();
    checkpoints = *std::move(found);
  }
  collector::RecoveryWish wish{.left_hours = options.left_hours, .now_ns = WallNow()};
  if (options.restart_s > 0) wish.restart_s = options.restart_s;
  wish.restart_assumed = options.restart_s <= 0;
  auto plan = PlanRecovery(facts->job, facts->nodes, checkpoints, wish);
  return PlannedRecovery{*std::move(facts), std::move(plan)};
}

void AddPlanOptions(CLI::App& verb, RecoverOptions* options) {
  verb.add_option("JOB", options->job, "the job [the only one]");
  verb.add_option("--checkpoints", options->checkpoints, "the folder that the job writes them to")
      ->type_name("DIR");
  verb.add_option("--left-hours", options->left_hours,
                  "hours of work that are left, at healthy speed")
      ->check(CLI::Range(0.0, 1e6));
  verb.add_option("--restart-seconds", options->restart_s,
                  "from the order until the first iteration [180]")
      ->check(CLI::Range(0.0, 1e6));
}

void AddRecoverVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb =
      root.add_subcommand("recover", "How a job that a node holds back runs well again");
  verb->require_subcommand(1);
  verb->footer(kExamples);
  auto options = std::make_shared<RecoverOptions>();
  CLI::App* plan =
      verb->add_subcommand("plan", "Isolate, spare, checkpoint, and what each way costs");
  AddPlanOptions(*plan, options.get());
  CLI::Option* migrate = plan->add_flag(
      "--migrate", options->migrate, "also what moving the node's ranks without a restart takes");
  plan->add_option("--node", options->node, "the node to move off [the one the verdict names]")
      ->needs(migrate);
  AddFormatOption(*plan, &options->format, "table, json or yaml");
  AddCollectorOptions(*plan, &options->collector, true);
  plan->callback(
      [invocation, options] { invocation->action = [options] { return Plan(*options); }; });
  AddRecoverRun(*verb, invocation);
  AddRecoverUndo(*verb, invocation);
  AddRecoverShow(*verb, invocation);
  AddRecoverNode(*verb, invocation);
}

}  // namespace fathom::cli
