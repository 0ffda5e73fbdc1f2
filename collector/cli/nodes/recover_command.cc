// `fathom recover plan JOB`: what would get the job to run well again, what it costs, and whether
// it pays.
#include <chrono>
#include <cstdio>
#include <memory>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/recover/recovery_facts.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom recover plan train --checkpoints /scratch/train/ckpt --left-hours 20\n"
    "  fathom recover plan train --restart-seconds 300 -o json\n"
    "A plan changes nothing. Exit codes: 2 it advises to act, 0 it does not, 1 there is no plan.";

struct RecoverOptions {
  CollectorOptions collector;
  std::string job, checkpoints, format = "table";
  double left_hours = 0, restart_s = 0;
};

std::int64_t WallNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

int Plan(const RecoverOptions& options) {
  const absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("recover", api.status());
  const absl::StatusOr<std::string> job = OnlyJob(*api, options.job);
  if (!job.ok()) return Fail("recover", job.status());
  const absl::StatusOr<RecoveryFacts> facts = AskForFacts(*api, *job);
  if (!facts.ok()) return Fail("recover", facts.status());
  std::vector<Checkpoint> checkpoints;
  if (!options.checkpoints.empty()) {
    auto found = FindCheckpoints(options.checkpoints);
    if (!found.ok()) return Fail("recover", found.status());
    checkpoints = *std::move(found);
  }
  RecoveryWish wish{.left_hours = options.left_hours, .now_ns = WallNow()};
  if (options.restart_s > 0) wish.restart_s = options.restart_s;
  wish.restart_assumed = options.restart_s <= 0;
  const RecoveryPlan plan = PlanRecovery(facts->job, facts->nodes, checkpoints, wish);
  const std::string out = IsText(options.format)
                              ? RecoveryText(facts->job, plan)
                              : Serialize(RecoveryJson(facts->job, plan), options.format);
  std::fputs(out.c_str(), stdout);
  return plan.advice == "act" && !options.collector.exit_zero ? kCulpritFound : kNothingFound;
}

}  // namespace

void AddRecoverVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb =
      root.add_subcommand("recover", "How a job that a node holds back runs well again");
  verb->require_subcommand(1);
  verb->footer(kExamples);
  auto options = std::make_shared<RecoverOptions>();
  CLI::App* plan =
      verb->add_subcommand("plan", "Isolate, spare, checkpoint, and what each way costs");
  plan->add_option("JOB", options->job, "the job [the only one]");
  plan->add_option("--checkpoints", options->checkpoints, "the folder that the job writes them to")
      ->type_name("DIR");
  plan->add_option("--left-hours", options->left_hours,
                   "hours of work that are left, at healthy speed")
      ->check(CLI::Range(0.0, 1e6));
  plan->add_option("--restart-seconds", options->restart_s,
                   "from the order until the first iteration [180]")
      ->check(CLI::Range(0.0, 1e6));
  AddFormatOption(*plan, &options->format, "table, json or yaml");
  AddCollectorOptions(*plan, &options->collector, true);
  plan->callback(
      [invocation, options] { invocation->action = [options] { return Plan(*options); }; });
}

}  // namespace fathom::cli
