// `fathom report --since 30d`: GPU-hours used and lost, by week, cause, node, team and job.
#include <cstdio>
#include <memory>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/month/loss_tables.h"
#include "collector/cli/month/period.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom report                             the last 30 days\n"
    "  fathom report --since 8w --top 30\n"
    "  fathom report --since 30d -o csv > losses.csv\n"
    "  fathom report -o json | jq .by_node\n"
    "A job's team is what FATHOM_TEAM says in its environment.";

struct ReportOptions {
  CollectorOptions collector;
  std::string since = "30d";
  std::string format = "table";
  std::size_t most = 12;
};

int Report(const ReportOptions& options) {
  const absl::StatusOr<std::int64_t> hours = HoursOf(options.since);
  if (!hours.ok()) return Fail("report", hours.status());
  absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("report", api.status());
  absl::StatusOr<Json> losses = api->Losses(*hours);
  if (!losses.ok()) return Fail("report", losses.status());
  const std::string out = options.format == "csv" ? LossCsv(*losses)
                          : IsText(options.format)
                              ? LossTables(*losses, options.most, LookAtTerminal(1))
                              : Serialize(*losses, options.format);
  std::fputs(out.c_str(), stdout);
  return kNothingFound;
}

}  // namespace

void AddReportVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand(
      "report", "GPU-hours used and lost over weeks: by cause, node, team, job");
  auto options = std::make_shared<ReportOptions>();
  verb->add_option("--since", options->since, "how far back: hours, days or weeks (36h, 30d, 8w)")
      ->type_name("PERIOD")
      ->capture_default_str();
  verb->add_option("--top", options->most, "lines of each table")
      ->type_name("COUNT")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("-o,--output", options->format, "table, csv, json or yaml")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "csv", "json", "yaml"}))
      ->capture_default_str();
  AddCollectorOptions(*verb, &options->collector, false);
  verb->footer(kExamples);
  verb->callback(
      [invocation, options] { invocation->action = [options] { return Report(*options); }; });
}

}  // namespace fathom::cli
