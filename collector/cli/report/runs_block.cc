#include "collector/cli/report/runs_block.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr auto kRight = Table::Align::kRight;
constexpr double kLeastTold = 0.5e-6;

std::string Change(double before, double after) {
  const double growth = after - before;
  if (std::abs(growth) < kLeastTold) return "-";
  const std::string size = Cat(growth > 0 ? "+" : "-", Seconds(std::abs(growth)));
  return before > 0 ? Cat(size, absl::StrFormat(" (%+.1f %%)", 100 * growth / before)) : size;
}

std::string Parts(const Json& before, const Json& after) {
  const std::pair<const char*, const char*> kParts[] = {{"iteration_s", "typical"},
                                                        {"mean_s", "mean"},
                                                        {"computing_s", "computing (CPU)"},
                                                        {"communication_s", "communication"},
                                                        {"host_s", "host"},
                                                        {"cores_s", "waiting for cores"},
                                                        {"dataloader_s", "waiting for batches"},
                                                        {"gc_s", "garbage collection"},
                                                        {"void_between_s", "void between them"},
                                                        {"void_within_s", "void within"},
                                                        {"issue_s", "issue latency (GPU)"}};
  Table table({{"  AN ITERATION"}, {"BEFORE", kRight}, {"AFTER", kRight}, {"CHANGE", kRight}});
  for (const auto& [field, name] : kParts) {
    const double was = NumberField(before, field), is = NumberField(after, field);
    if (was < kLeastTold && is < kLeastTold) continue;
    table.Add({Cat("  ", name), Seconds(was), Seconds(is), Change(was, is)});
  }
  return table.empty() ? "" : table.ToString();
}

std::string RunLine(const char* name, const Json& run) {
  return Cat("  ", name, "  ", TextField(run, "id"), "  ", TextField(run, "job"), ", ",
             IntField(run, "iterations"), " iterations, started ",
             LocalTime(IntField(run, "started_unix_ns")), "\n");
}

std::string Changes(const Json& comparison) {
  if (!BoolField(comparison, "setup_known")) {
    return "  With what they were started is not known of both.\n";
  }
  std::string out;
  for (const Json& change : ListField(comparison, "changed")) {
    AppendTo(&out, "  ", TextField(change, "text"), "\n");
  }
  return out.empty() ? "  nothing of versions, environment, arguments, revision and nodes\n" : out;
}

}  // namespace

std::string RunsBlock(const Json& comparison, const Terminal& terminal) {
  const auto columns = TextColumns(terminal);
  std::string out = Cat(Paint(terminal, Ink::kBold, TextField(comparison, "sentence")), ".\n",
                        RunLine("before", ObjectField(comparison, "before")),
                        RunLine("after ", ObjectField(comparison, "after")));
  const std::string other = TextField(comparison, "other_profile");
  if (!other.empty()) {
    AppendTo(&out, "  ", Wrap(Cat("They are not of one profile: ", other, "."), columns - 4, "  "),
             "\n");
  }
  AppendTo(
      &out, "\n",
      Parts(ObjectField(comparison, "stretch_before"), ObjectField(comparison, "stretch_after")),
      "\n", Paint(terminal, Ink::kBold, "Changed"), "\n", Changes(comparison));
  return out;
}

}  // namespace fathom::cli
