#include "collector/cli/command_line.h"

#include <algorithm>
#include <cstdio>

#include "CLI/CLI.hpp"
#include "collector/cli/command/nearest_name.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/command/version_command.h"
#include "collector/cli/doctor/fathom_checks.h"
#include "collector/cli/nodes/probe_command.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom run -- torchrun --nproc-per-node 4 train.py\n"
    "  fathom get verdicts\n"
    "  fathom explain\n"
    "  fathom doctor\n"
    "Exit codes: 0 nothing found, 1 usage or failure, 2 a culprit was found; `run` returns that of "
    "its command.";

int Say(const std::string& line) {
  std::fprintf(stderr, "fathom: %s\n", Printable(line).c_str());
  return kFailure;
}

// Usage errors in one line. CLI11 words them well enough but for unknown verbs.
int UsageError(const CLI::App& root, const std::vector<std::string>& arguments,
               const CLI::ParseError& error) {
  const std::string verb = arguments.empty() ? "" : arguments[0];
  std::vector<std::string> names;
  for (const CLI::App* each : root.get_subcommands(nullptr)) names.push_back(each->get_name());
  if (verb.empty()) return Say("a verb is missing; see fathom --help");
  if (verb[0] == '-') return Say(Cat(error.what(), "; see fathom --help"));
  if (std::find(names.begin(), names.end(), verb) != names.end()) {
    return Say(Cat(verb, ": ", error.what(), "; see fathom ", verb, " --help"));
  }
  const std::string nearest = NearestName(verb, names);
  return Say(Cat("there is no verb '", verb, "'",
                 nearest.empty() ? "" : Cat("; did you mean '", nearest, "'?"),
                 "; see fathom --help"));
}

void SplitCommand(std::vector<std::string>* arguments, Invocation* invocation) {
  const auto dashes = std::find(arguments->begin(), arguments->end(), "--");
  if (dashes == arguments->end() || arguments->front() != "run") return;
  invocation->has_command = true;
  invocation->command.assign(dashes + 1, arguments->end());
  arguments->erase(dashes, arguments->end());
}

void AddVerbs(CLI::App& root, Invocation* invocation) {
  root.require_subcommand(1);
  root.footer(kExamples);
  root.set_version_flag("--version", VersionText());
  AddRunVerb(root, invocation);
  AddGetVerb(root, invocation);
  AddExplainVerb(root, invocation);
  AddCompareVerb(root, invocation);
  AddReportVerb(root, invocation);
  AddWatchVerb(root, invocation);
  AddAnalyzeVerb(root, invocation);
  AddSimulateVerb(root, invocation);
  AddDoctorVerb(root, invocation);
  AddProbeVerb(root, invocation);
  AddRecoverVerb(root, invocation);
  AddProfileVerb(root, invocation);
  AddTraceVerb(root, invocation);
  AddActionVerb(root, invocation);
  AddExportVerb(root, invocation);
  AddCompletionVerb(root, invocation);
  AddVersionVerb(root, invocation);
}

}  // namespace

int RunCommandLine(std::vector<std::string> arguments) {
  if (arguments.size() == 1 && arguments[0] == kPreloadProbe) return RunPreloadProbe();
  Invocation invocation;
  SplitCommand(&arguments, &invocation);
  CLI::App root("fathom finds what holds a training job back.", "fathom");
  AddVerbs(root, &invocation);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    root.parse(std::move(reversed));
  } catch (const CLI::Success& asked_for_text) {  // --help, --version
    return root.exit(asked_for_text) == 0 ? kNothingFound : kFailure;
  } catch (const CLI::ParseError& error) {
    return UsageError(root, arguments, error);
  }
  return invocation.action ? invocation.action() : kFailure;
}

}  // namespace fathom::cli
