// `fathom doctor`: what can be traced on this machine and what cannot, and why.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/doctor/examination.h"
#include "collector/cli/doctor/job_sources.h"
#include "collector/cli/doctor/sizing.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom doctor\n"
    "  fathom doctor --python .venv/bin/python -o json\n"
    "  fathom doctor --job train\n"
    "  fathom doctor --size ranks=8192,ops=400,iteration=2.5\n"
    "Exit code: 1 when `fathom run` could not trace here, else 0.";

struct DoctorOptions {
  CollectorOptions collector;
  std::string python;
  std::string job;
  std::string size;
  std::string format = "table";
};

std::string ToText(const Findings& findings, const Terminal& terminal) {
  constexpr std::size_t kNameColumns = 18;
  const std::string indent(kNameColumns + 8, ' ');
  const std::size_t room = static_cast<std::size_t>(std::max(terminal.columns, 60)) - indent.size();
  std::string out;
  for (const Finding& each : findings) {
    const Ink ink = each.state == "ok"    ? Ink::kGreen
                    : each.state == "off" ? Ink::kRed
                                          : Ink::kYellow;
    AppendTo(&out, each.name,
             std::string(kNameColumns - std::min(kNameColumns, each.name.size()), ' '),
             Paint(terminal, ink, each.state), std::string(8 - each.state.size(), ' '),
             Wrap(each.why, room, indent), "\n");
    if (!each.hides.empty())
      AppendTo(&out, indent, Wrap("hides: " + each.hides, room, indent), "\n");
    if (!each.todo.empty()) AppendTo(&out, indent, Wrap("do: " + each.todo, room, indent), "\n");
  }
  return out;
}

int LookAtJob(const CollectorApi& api, const DoctorOptions& options) {
  const absl::StatusOr<Json> health = api.Health(options.job);
  if (!health.ok()) return Fail("doctor", health.status());
  const std::string out = IsText(options.format)
                              ? JobSourcesTable(*health)
                              : Serialize(JobSourcesJson(*health), options.format);
  std::fputs(out.c_str(), stdout);
  return kNothingFound;
}

int Size(const DoctorOptions& options) {
  const absl::StatusOr<Workload> workload = ReadWorkload(options.size);
  if (!workload.ok()) return Fail("doctor", workload.status());
  const Sizing sizing = SizeOf(*workload);
  const std::string out = IsText(options.format)
                              ? SizingText(*workload, sizing)
                              : Serialize(SizingJson(*workload, sizing), options.format);
  std::fputs(out.c_str(), stdout);
  return kNothingFound;
}

int Doctor(const DoctorOptions& options) {
  if (!options.size.empty()) return Size(options);
  absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("doctor", api.status());
  if (!options.job.empty()) return LookAtJob(*api, options);
  const Findings findings =
      Examine(*api, options.python.empty() ? DefaultPython() : options.python);
  const std::string out = IsText(options.format) ? ToText(findings, LookAtTerminal(1))
                                                 : Serialize(ToJson(findings), options.format);
  std::fputs(out.c_str(), stdout);
  const bool can_trace = std::none_of(findings.begin(), findings.end(), [](const Finding& each) {
    return each.required && each.state == "off";
  });
  return can_trace ? kNothingFound : kFailure;
}

}  // namespace

void AddDoctorVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("doctor", "Tell what can be traced here, what not, and why");
  auto options = std::make_shared<DoctorOptions>();
  AddPythonOption(*verb, &options->python);
  verb->add_option("-j,--job", options->job, "what is traced on each rank of a running job")
      ->type_name("NAME");
  verb->add_option("--size", options->size,
                   "what a collector needs: ranks=N with node=, iteration=, groups=, ops=, days=")
      ->type_name("WORKLOAD");
  AddFormatOption(*verb, &options->format, "table, json or yaml");
  AddCollectorOptions(*verb, &options->collector, false);
  verb->footer(kExamples);
  verb->callback(
      [invocation, options] { invocation->action = [options] { return Doctor(*options); }; });
}

}  // namespace fathom::cli
