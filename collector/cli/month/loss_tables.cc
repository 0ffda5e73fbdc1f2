#include "collector/cli/month/loss_tables.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr auto kRight = Table::Align::kRight;
constexpr const char* kColumns[] = {"week",     "team",           "job",
                                    "cause",    "owner",          "node",
                                    "verdicts", "used_gpu_hours", "lost_gpu_hours"};

std::string Day(std::int64_t unix_ns) {
  return absl::FormatTime("%Y-%m-%d", absl::FromUnixNanos(unix_ns), absl::UTCTimeZone());
}

std::string Hours(double hours) {
  return hours >= 100 ? absl::StrFormat("%.0f", hours) : absl::StrFormat("%.3g", hours);
}

std::string Left(std::size_t shown, std::size_t all) {
  return all > shown ? Cat("  and ", all - shown, " more: -o json\n") : "";
}

std::string Title(const char* text, const Terminal& terminal) {
  return Cat("\n", Paint(terminal, Ink::kBold, text), "\n");
}

std::string Weeks(const Json& weeks, const Terminal& terminal) {
  Table table({{"  WEEK FROM"}, {"USED", kRight}, {"LOST", kRight}, {"SHARE", kRight}});
  for (const Json& week : weeks) {
    const double used = NumberField(week, "used_gpu_hours");
    const double lost = NumberField(week, "lost_gpu_hours");
    table.Add({Cat("  ", Day(IntField(week, "week_unix_ns"))), Hours(used), Hours(lost),
               PercentOf(lost, used)});
  }
  return table.empty() ? "" : Cat(Title("By week (GPU-hours)", terminal), table.ToString());
}

// Causes and nodes: what they cost of all that was lost.
std::string Losers(const Json& sums, const char* title, const char* heading, double lost,
                   std::size_t most, const Terminal& terminal) {
  const bool owners = std::string_view(heading) == "CAUSE";
  std::vector<Table::Column> columns = {{Cat("  ", heading)}};
  if (owners) columns.push_back({"OWNER"});
  for (const char* each : {"LOST", "SHARE", "VERDICTS", "JOBS"}) columns.push_back({each, kRight});
  Table table(std::move(columns));
  std::size_t shown = 0;
  for (const Json& sum : sums) {
    if (shown == most) break;
    ++shown;
    const double own = NumberField(sum, "lost_gpu_hours");
    std::vector<std::string> cells = {Cat("  ", TextField(sum, "name"))};
    if (owners) cells.push_back(TextField(sum, "owner"));
    for (std::string& cell :
         std::vector<std::string>{Hours(own), PercentOf(own, lost), Cat(IntField(sum, "verdicts")),
                                  Cat(IntField(sum, "jobs"))}) {
      cells.push_back(std::move(cell));
    }
    table.Add(std::move(cells));
  }
  if (table.empty()) return "";
  return Cat(Title(title, terminal), table.ToString(), Left(shown, sums.size()));
}

// Teams and jobs: what they lost of what they used.
std::string Users(const Json& sums, const char* title, const char* heading, std::size_t most,
                  const Terminal& terminal) {
  Table table({{Cat("  ", heading)},
               {"USED", kRight},
               {"LOST", kRight},
               {"SHARE", kRight},
               {"VERDICTS", kRight}});
  std::size_t shown = 0;
  for (const Json& sum : sums) {
    if (shown == most) break;
    ++shown;
    const double used = NumberField(sum, "used_gpu_hours");
    const double lost = NumberField(sum, "lost_gpu_hours");
    table.Add({Cat("  ", TextField(sum, "name")), Hours(used), Hours(lost), PercentOf(lost, used),
               Cat(IntField(sum, "verdicts"))});
  }
  if (table.empty()) return "";
  return Cat(Title(title, terminal), table.ToString(), Left(shown, sums.size()));
}

std::string Offenders(const Json& losses, const Terminal& terminal) {
  Table table({{"  NODE"}, {"JOBS", kRight}, {"LAST"}});
  for (const Json& node : ListField(losses, "repeat_offenders")) {
    table.Add({Cat("  ", TextField(node, "node")), Cat(IntField(node, "convicted_jobs")),
               Day(IntField(node, "last_convicted_unix_ns"))});
  }
  if (table.empty()) return "";
  return Cat(Title("Repeat offenders", terminal), table.ToString(), "  convicted in ",
             IntField(losses, "repeat_jobs"), " jobs or more\n");
}

// Before the isolation and after the restart the job ran: what it lost then is its verdict's.
std::string Recoveries(const Json& losses, const Terminal& terminal) {
  const Json& recoveries = ObjectField(losses, "recoveries");
  const auto count = static_cast<std::size_t>(IntField(recoveries, "count"));
  if (count == 0) return "";
  Table table({{"  STAGE"}, {"MINUTES", kRight}, {"GPU-HOURS", kRight}});
  for (const Json& stage : ListField(recoveries, "stages")) {
    const double hours = NumberField(stage, "gpu_hours");
    table.Add({Cat("  ", TextField(stage, "stage")),
               absl::StrFormat("%.1f", NumberField(stage, "minutes")),
               hours > 0 ? Hours(hours) : "-"});
  }
  return Cat(Title("Recoveries", terminal), table.ToString(), "  of ", count,
             count == 1 ? " recovery, " : " recoveries, ", IntField(recoveries, "recovered"),
             " to the end\n");
}

std::string Head(const Json& losses, std::size_t columns) {
  const double used = NumberField(losses, "used_gpu_hours");
  const double lost = NumberField(losses, "lost_gpu_hours");
  const double leads = NumberField(losses, "leads_gpu_hours");
  std::string text =
      Cat(Day(IntField(losses, "since_unix_ns")), " to ", Day(IntField(losses, "until_unix_ns")),
          ": ", Hours(used), " GPU-hours used in ",
          Counted(static_cast<std::size_t>(IntField(losses, "runs")), "run"), " of ",
          Counted(static_cast<std::size_t>(IntField(losses, "jobs")), "job"), ", ", Hours(lost),
          " lost (", PercentOf(lost, used), ")");
  if (leads > 0) AppendTo(&text, "; leads that nothing established claim ", Hours(leads), " more");
  std::string out = Cat(Wrap(text + ".", columns, ""), "\n");
  const std::int64_t reach = IntField(losses, "verdicts_since_unix_ns");
  if (reach > IntField(losses, "since_unix_ns")) {
    AppendTo(&out, "Verdicts from before ", Day(reach),
             " have left the store: more was lost than is told.\n");
  }
  return out;
}

// As RFC 4180 has it; a spreadsheet must not take a name for a formula.
std::string CsvCell(std::string text) {
  if (!text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos) {
    text.insert(text.begin(), '\'');
  }
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string LossTables(const Json& losses, std::size_t most, const Terminal& terminal) {
  const double lost = NumberField(losses, "lost_gpu_hours");
  return Cat(Head(losses, TextColumns(terminal)), Weeks(ListField(losses, "by_week"), terminal),
             Losers(ListField(losses, "by_cause"), "Lost by cause", "CAUSE", lost, most, terminal),
             Losers(ListField(losses, "by_node"), "Lost by node", "NODE", lost, most, terminal),
             Users(ListField(losses, "by_team"), "By team", "TEAM", most, terminal),
             Users(ListField(losses, "by_job"), "By job", "JOB", most, terminal),
             Recoveries(losses, terminal), Offenders(losses, terminal));
}

std::string LossCsv(const Json& losses) {
  std::string out;
  for (const char* column : kColumns) AppendTo(&out, out.empty() ? "" : ",", column);
  out += "\n";
  for (const Json& row : ListField(losses, "rows")) {
    out += Day(IntField(row, "week_unix_ns"));
    for (const char* name : {"team", "job", "cause", "owner", "node"}) {
      AppendTo(&out, ",", CsvCell(TextField(row, name)));
    }
    AppendTo(&out, ",", IntField(row, "verdicts"),
             absl::StrFormat(",%.6f,%.6f\n", NumberField(row, "used_gpu_hours"),
                             NumberField(row, "lost_gpu_hours")));
  }
  return out;
}

}  // namespace fathom::cli
