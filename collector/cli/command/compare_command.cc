// `fathom compare RUN RUN`: what became slower between two runs, and what had been changed.
#include <cstdio>
#include <memory>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/report/runs_block.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom get runs\n"
    "  fathom compare r0a1b2c3d4e5f r5f4e3d2c1b0a\n"
    "  fathom compare r0a1b2c3d4e5f r5f4e3d2c1b0a -o json\n"
    "The first run is the one before.";

struct CompareOptions {
  CollectorOptions collector;
  std::string before, after;
  std::string format = "table";
};

int Compare(const CompareOptions& options) {
  absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("compare", api.status());
  absl::StatusOr<Json> reply = api->CompareRuns(options.before, options.after);
  if (absl::IsNotFound(reply.status())) {
    return Fail("compare", absl::NotFoundError(Cat(Message(reply.status()),
                                                   "; `fathom get runs` lists those kept")));
  }
  if (!reply.ok()) return Fail("compare", reply.status());
  const std::string out = IsText(options.format) ? RunsBlock(*reply, LookAtTerminal(1))
                                                 : Serialize(*reply, options.format);
  std::fputs(out.c_str(), stdout);
  return kNothingFound;
}

}  // namespace

void AddCompareVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb =
      root.add_subcommand("compare", "Compare two runs: what became slower, what was changed");
  auto options = std::make_shared<CompareOptions>();
  verb->add_option("BEFORE", options->before, "the earlier run, by its id")->required();
  verb->add_option("AFTER", options->after, "the later one")->required();
  AddFormatOption(*verb, &options->format, "table, json or yaml");
  AddCollectorOptions(*verb, &options->collector, false);
  verb->footer(kExamples);
  verb->callback(
      [invocation, options] { invocation->action = [options] { return Compare(*options); }; });
}

}  // namespace fathom::cli
