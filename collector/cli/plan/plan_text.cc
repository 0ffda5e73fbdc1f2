#include "collector/cli/plan/plan_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kKbit = 1000.0 / 8;

std::string Cores(double cores) {
  return cores > 0 ? absl::StrFormat("%.3f %%", 100 * cores) : std::string("-");
}
std::string Kbit(double bytes_per_s) {
  return bytes_per_s > 0 ? absl::StrFormat("%.1f", bytes_per_s / kKbit) : std::string("-");
}
std::string MiB(double bytes) {
  return bytes > 0 ? absl::StrFormat("%.1f", bytes / kMiB) : std::string("-");
}

std::string OfLimit(double limit, const char* unit, double factor) {
  return limit > 0 ? absl::StrFormat("%g %s", limit * factor, unit) : std::string("no limit");
}

std::vector<std::string> Row(const std::string& name, const std::string& rate,
                             const std::string& level, const Json& part) {
  const Json spend = ObjectField(part, "spend");
  const double one = NumberField(part, "ns_per_event");
  return {name,
          rate,
          level,
          Cores(NumberField(spend, "cores")),
          Kbit(NumberField(spend, "bytes_per_s")),
          MiB(NumberField(spend, "memory_bytes")),
          one > 0 ? Seconds(one * 1e-9) : "-",
          one > 0 ? Number(NumberField(part, "events_per_s")) : "-"};
}

std::string LevelOf(const Json& part) {
  const std::int64_t levels = IntField(part, "levels");
  return levels > 1 ? Cat(IntField(part, "level") + 1, " of ", levels) : std::string("-");
}

std::string BudgetLine(const Json& plan, const ListStyle& style) {
  const Json budget = ObjectField(plan, "budget");
  const std::string collector = TextField(plan, "collector");
  return Cat(collector.empty() ? TextField(plan, "node") : "collector " + collector, ": may take ",
             OfLimit(NumberField(budget, "cores"), "% of a core", 100), ", ",
             OfLimit(NumberField(budget, "bytes_per_s"), "kbit/s", 1 / kKbit), ", ",
             OfLimit(NumberField(budget, "memory_bytes"), "MiB", 1 / kMiB), "; told ",
             Ago(IntField(plan, "told_unix_ns"), style.now_unix_ns), "\n");
}

std::string Parts(const Json& plan) {
  Table table({{"PART"},
               {"RATE"},
               {"LEVEL"},
               {"CPU", Table::Align::kRight},
               {"KBIT/S", Table::Align::kRight},
               {"MIB", Table::Align::kRight},
               {"ONE TAKES", Table::Align::kRight},
               {"A SECOND", Table::Align::kRight}});
  for (const Json& part : ListField(plan, "parts")) {
    const std::string rate = TextField(part, "rate");
    table.Add(Row(TextField(part, "name"), rate.empty() ? "-" : rate, LevelOf(part), part));
  }
  table.Add(Row("in all", "", "", plan));
  return table.ToString();
}

// Of what exceeds its limit most; 0 is no limit.
double TimesTheBudget(const Json& plan) {
  const Json budget = ObjectField(plan, "budget"), spend = ObjectField(plan, "spend");
  double times = 0;
  for (const char* resource : {"cores", "bytes_per_s", "memory_bytes"}) {
    const double limit = NumberField(budget, resource);
    if (limit > 0) times = std::max(times, NumberField(spend, resource) / limit);
  }
  return times;
}

// Whether it fits, and when and why it was changed last.
std::string Notes(const Json& plan, const ListStyle& style) {
  std::string out;
  if (!BoolField(plan, "fits")) {
    out += absl::StrFormat(
        "It does not fit, although all that can be done more coarsely is as coarse as it helps: it "
        "takes %.1f times what it may.\n",
        TimesTheBudget(plan));
  }
  const std::int64_t changes = IntField(plan, "changes");
  if (changes > 0) {
    out += Cat("Changed ", changes, changes == 1 ? " time, " : " times, last ",
               Ago(IntField(plan, "changed_unix_ns"), style.now_unix_ns), ": ",
               TextField(plan, "why"), ".\n");
  }
  return out;
}

}  // namespace

std::string PlanText(const Json& plans, const ListStyle& style) {
  std::string out;
  for (const Json& plan : plans) {
    if (!out.empty()) out += "\n";
    out += Cat(BudgetLine(plan, style), Parts(plan), Notes(plan, style));
  }
  return out;
}

}  // namespace fathom::cli
