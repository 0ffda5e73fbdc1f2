#include "collector/simulate/experiment/table_plot.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "collector/simulate/experiment/plot.h"

namespace fathom::simulate {
namespace {

constexpr std::string_view kCommand = "    fathom simulate --experiment ";

struct Shown {
  std::string_view column, name;
};

struct PlotPlan {
  std::string_view experiment, file, title, x, y_label;
  bool log_x, log_y, share;
  Shown ours, theirs;  // theirs: of the paper; without a column there is none
};

constexpr PlotPlan kPlans[] = {
    {"scale",
     "accuracy_by_scale",
     "Top-1 right by ranks, with 95 % intervals",
     "ranks",
     "top-1 right, %",
     true,
     false,
     true,
     {"top-1 right, %", "fathom, simulated"},
     {"Holmes, %", "Holmes, real clusters"}},
    {"dimensions",
     "accuracy_by_dimensions",
     "Top-1 right by dimensions, with 95 % intervals",
     "dimensions",
     "top-1 right, %",
     false,
     false,
     true,
     {"top-1 right, %", "fathom, simulated"},
     {"Holmes, %", "Holmes, real clusters"}},
    {"size",
     "accuracy_by_size",
     "Top-1 right by size of the fault, with 95 % intervals",
     "kernels take × as long",
     "top-1 right, %",
     false,
     false,
     true,
     {"top-1 right, %", "fathom, simulated"},
     {"", ""}},
    {"cost",
     "localising_by_scale",
     "CPU time of the look that localises, by ranks",
     "ranks",
     "CPU time, ms",
     true,
     true,
     false,
     {"localising: one look, CPU ms (median)", "one look, one core"},
     {"", ""}},
    {"cost",
     "data_by_scale",
     "Ops fetched of ops logged, by ranks",
     "ranks",
     "ops fetched of ops logged until the verdict, %",
     true,
     true,
     false,
     {"ops fetched of ops logged until then, %", "fetched, %"},
     {"", ""}},
    {"endtoend",
     "endtoend_by_scale",
     "Localisation over gRPC, by ranks",
     "ranks",
     "seconds",
     true,
     true,
     false,
     {"localising, s (median)", "fathom, one machine"},
     {"Holmes, s", "Holmes, real cluster"}},
};

std::vector<std::string> CellsOf(const std::string& line) {
  std::vector<std::string> cells = absl::StrSplit(line, '|');
  for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
  if (cells.size() < 3) return {};
  return {cells.begin() + 1, cells.end() - 1};
}

// "97.2", "97.2 (95.0–98.5)"; nothing for "–".
std::optional<PlotPoint> PointOf(const std::string& x, const std::string& y) {
  PlotPoint point;
  const std::string plain = absl::StrReplaceAll(y, {{"–", " "}, {"(", " "}, {")", " "}});
  const std::vector<std::string> parts = absl::StrSplit(plain, ' ', absl::SkipEmpty());
  if (!absl::SimpleAtod(x, &point.x) || parts.empty()) return std::nullopt;
  if (!absl::SimpleAtod(parts[0], &point.y)) return std::nullopt;
  point.low = point.high = point.y;
  if (parts.size() == 3) {
    if (!absl::SimpleAtod(parts[1], &point.low)) return std::nullopt;
    if (!absl::SimpleAtod(parts[2], &point.high)) return std::nullopt;
  }
  return point;
}

PlotSeries SeriesOf(const std::vector<std::vector<std::string>>& table, std::string_view x,
                    const Shown& shown) {
  PlotSeries series{std::string(shown.name), {}};
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(table[0].begin(), table[0].end(), name) -
                                    table[0].begin());
  };
  const std::size_t at_x = column(x), at_y = column(shown.column);
  for (std::size_t row = 1; row < table.size(); ++row) {
    if (std::max(at_x, at_y) >= table[row].size()) continue;
    if (const auto point = PointOf(table[row][at_x], table[row][at_y])) {
      series.points.push_back(*point);
    }
  }
  return series;
}

std::string Drawn(const PlotPlan& plan, const std::vector<std::vector<std::string>>& table) {
  Plot plot{std::string(plan.title),
            std::string(plan.x),
            std::string(plan.y_label),
            plan.log_x,
            plan.log_y,
            plan.share,
            {SeriesOf(table, plan.x, plan.ours)}};
  if (!plan.theirs.column.empty()) plot.series.push_back(SeriesOf(table, plan.x, plan.theirs));
  return plot.series[0].points.empty() ? "" : ToSvg(plot);
}

}  // namespace

std::vector<NamedPlot> PlotsOf(const std::string& experiment, const std::string& lines) {
  std::vector<std::vector<std::string>> table;
  const std::vector<std::string> all = absl::StrSplit(lines, '\n');
  for (const std::string& line : all) {
    if (line.rfind("| ", 0) != 0 || line.rfind("| ---", 0) == 0) continue;
    if (auto cells = CellsOf(line); !cells.empty()) table.push_back(std::move(cells));
  }
  std::vector<NamedPlot> plots;
  for (const PlotPlan& plan : kPlans) {
    if (plan.experiment != experiment || table.size() < 2) continue;
    NamedPlot plot{std::string(plan.file), std::string(plan.title), Drawn(plan, table)};
    if (!plot.svg.empty()) plots.push_back(std::move(plot));
  }
  return plots;
}

std::vector<NamedPlot> PlotsOfPage(const std::string& page) {
  std::vector<NamedPlot> plots;
  for (auto at = page.find(kCommand); at != page.npos; at = page.find(kCommand, at)) {
    at += kCommand.size();
    const std::string name = page.substr(at, page.find('\n', at) - at);
    const std::string lines = page.substr(at, page.find(kCommand, at) - at);
    for (NamedPlot& plot : PlotsOf(name, lines)) plots.push_back(std::move(plot));
  }
  return plots;
}

std::string LinkTo(const NamedPlot& plot) {
  return absl::StrCat("\n![", plot.title, "](images/experiments/", plot.name, ".svg)\n");
}

}  // namespace fathom::simulate
