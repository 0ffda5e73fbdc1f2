#include "collector/cli/report/time_spent.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr auto kRight = Table::Align::kRight;

bool AnyHas(const Json& ranks, const char* field) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [field](const Json& rank) { return NumberField(rank, field) > 0; });
}

bool OnDevice(const Json& report) {
  const Json& ranks = ListField(ObjectField(report, "tables"), "ranks");
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const Json& rank) { return BoolField(rank, "on_device"); });
}

std::vector<const Json*> Shown(const Json& ranks, const std::set<std::int64_t>& culprits,
                               std::size_t most) {
  std::vector<const Json*> shown;
  for (const Json& rank : ranks) shown.push_back(&rank);
  if (shown.size() <= most) return shown;
  std::stable_sort(shown.begin(), shown.end(), [&culprits](const Json* a, const Json* b) {
    const bool first = culprits.contains(IntField(*a, "rank"));
    if (first != culprits.contains(IntField(*b, "rank"))) return first;
    return NumberField(*a, "late_s") > NumberField(*b, "late_s");
  });
  shown.resize(most);
  return shown;
}

// A column that the source knows nothing of would be a column of zeros.
struct Known {
  bool compute, overlap, wait, late, on_device;
};

Known KnownOf(const Json& report) {
  const Json& ranks = ListField(report, "ranks");
  return {AnyHas(ranks, "compute_s"), AnyHas(ranks, "overlap_ratio"), AnyHas(ranks, "wait_s"),
          AnyHas(ranks, "late_s"), OnDevice(report)};
}

Table Headings(const Known& known) {
  std::vector<Table::Column> columns = {{"  RANK", kRight}};
  if (known.compute) {
    columns.push_back({"COMPUTE", kRight});
    columns.push_back({known.on_device ? "COMM+COPY" : "BLOCKED", kRight});
    columns.push_back({"IDLE", kRight});
    if (known.overlap) columns.push_back({"OVERLAP", kRight});
  }
  if (known.wait) columns.push_back({"WAITED", kRight});
  if (known.late) columns.push_back({"LATE", kRight});
  return Table(std::move(columns));
}

std::vector<std::string> Cells(const Json& rank, const Known& known) {
  std::vector<std::string> cells = {Cat("  ", IntField(rank, "rank"))};
  if (known.compute) {
    const double compute = NumberField(rank, "compute_s"), idle = NumberField(rank, "idle_s");
    const double other = NumberField(rank, "non_compute_s");
    const double span = compute + other + idle;
    for (const double part : {compute, other, idle}) cells.push_back(PercentOf(part, span));
    if (known.overlap) cells.push_back(PercentOf(NumberField(rank, "overlap_ratio"), 1));
  }
  if (known.wait) cells.push_back(Seconds(NumberField(rank, "wait_s")));
  if (known.late) cells.push_back(Seconds(NumberField(rank, "late_s")));
  return cells;
}

std::string Legend(const Known& known) {
  std::vector<std::string> words;
  if (known.compute) {
    words.push_back(known.on_device ? "comm+copy: while none computes"
                                    : "blocked: on communication");
    if (known.overlap) words.push_back("overlap: with compute");
  }
  if (known.wait) words.push_back("waited: for others");
  if (known.late) words.push_back("late: behind the median");
  return Join(words, "; ");
}

}  // namespace

std::string TimeSpent(const Json& report, const std::set<std::int64_t>& culprits, std::size_t most,
                      const Terminal& terminal) {
  const Json& ranks = ListField(report, "ranks");
  const Known known = KnownOf(report);
  if (ranks.empty() || !(known.compute || known.wait || known.late)) return "";
  const bool traced = !ListField(ObjectField(report, "tables"), "ranks").empty();
  const char* const whose = known.on_device ? "the devices"
                            : traced        ? "the training threads"
                                            : "the ranks";
  const std::string title =
      known.compute ? Cat("Where the time of ", whose, " went") : "Who waited for whom";
  Table table = Headings(known);
  const std::vector<const Json*> shown = Shown(ranks, culprits, most);
  for (const Json* rank : shown) table.Add(Cells(*rank, known));
  const std::string some =
      shown.size() < ranks.size() ? Cat(" (", shown.size(), " of ", ranks.size(), " ranks)") : "";
  return Cat(Paint(terminal, Ink::kBold, Cat(title, some)), "\n", table.ToString(), "  ",
             Paint(terminal, Ink::kDim, Legend(known)), "\n");
}

}  // namespace fathom::cli
