// `fathom explain VERDICT`: all there is to one verdict.
#include <cstdio>
#include <memory>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/render/folded_stacks.h"
#include "collector/cli/report/verdict_card.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom explain            the strongest active verdict\n"
    "  fathom explain v-12\n"
    "  fathom explain v-12 -o json\n"
    "  fathom explain v-12 --stacks > stacks.folded\n"
    "Exit code: 2 when the verdict is established or supported, 0 when it is weaker.";

struct ExplainOptions {
  CollectorOptions collector;
  std::string id;
  std::string format = "table";
  bool stacks = false;
};

// The strongest active verdict; of equal ones the newest, which the collector lists first.
absl::StatusOr<Json> Strongest(const CollectorApi& api) {
  absl::StatusOr<Json> reply = api.Verdicts("", /*active_only=*/true);
  if (!reply.ok()) return reply.status();
  const Json* best = nullptr;
  for (const Json& each : ListField(*reply, "verdicts")) {
    const auto strength = [](const Json& v) { return GradeStrength(TextField(v, "grade")); };
    if (best == nullptr || strength(each) > strength(*best)) best = &each;
  }
  const std::string lacks = TextField(*reply, "lacks");
  if (best == nullptr && !lacks.empty()) {
    return absl::UnavailableError(Cat("whether there is an active verdict is not known: ", lacks));
  }
  if (best == nullptr) {
    return absl::NotFoundError(
        "there is no active verdict; `fathom get verdicts --all` lists the closed ones");
  }
  return *best;
}

absl::StatusOr<Json> Find(const CollectorApi& api, const std::string& id) {
  if (id.empty()) return Strongest(api);
  absl::StatusOr<Json> verdict = api.Verdict(id);
  if (absl::IsNotFound(verdict.status())) {
    return absl::NotFoundError(
        Cat("no verdict '", id, "'; `fathom get verdicts --all` lists them"));
  }
  if (verdict.ok() && TextField(*verdict, "grade").empty()) {
    return absl::InternalError("the collector's answer is no verdict; are both of one version?");
  }
  return verdict;
}

int Explain(const ExplainOptions& options) {
  absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("explain", api.status());
  absl::StatusOr<Json> found = Find(*api, options.id);
  if (!found.ok()) return Fail("explain", found.status());
  const VerdictView verdict = ReadVerdict(*found);
  if (options.stacks && verdict.stacks.empty()) {
    return Fail("explain", absl::NotFoundError(Cat("verdict ", verdict.id, " has no stacks")));
  }
  const std::string out = options.stacks           ? FoldedStacks(verdict)
                          : IsText(options.format) ? VerdictPage(verdict, LookAtTerminal(1))
                                                   : Serialize(*found, options.format);
  std::fputs(out.c_str(), stdout);
  return verdict.Convicts() && !options.collector.exit_zero ? kCulpritFound : kNothingFound;
}

}  // namespace

void AddExplainVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("explain", "Show all evidence of a verdict");
  auto options = std::make_shared<ExplainOptions>();
  verb->add_option("VERDICT", options->id, "its id; without one, the strongest active verdict");
  AddFormatOption(*verb, &options->format, "table, json or yaml");
  verb->add_flag("--stacks", options->stacks,
                 "print the stacks of a hang folded, for a flame graph tool");
  AddCollectorOptions(*verb, &options->collector, true);
  verb->footer(kExamples);
  verb->callback(
      [invocation, options] { invocation->action = [options] { return Explain(*options); }; });
}

}  // namespace fathom::cli
