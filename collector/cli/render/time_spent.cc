#include "collector/cli/render/time_spent.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kRanksShown = 8;
constexpr std::size_t kWorkShown = 5;
constexpr std::size_t kNameShown = 60;
constexpr auto kRight = Table::Align::kRight;

std::string Share(double part, double whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", whole > 0 ? 100 * part / whole : 0.0);
  return text;
}

// Of a large job, the ranks that others waited for most.
std::vector<diagnosis::RankTotals> Shown(const diagnosis::JobTables& tables) {
  std::vector<diagnosis::RankTotals> shown = tables.totals;
  if (shown.size() <= kRanksShown) return shown;
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto& a, const auto& b) { return a.late > b.late; });
  shown.resize(kRanksShown);
  return shown;
}

// Files of communication alone do not tell what was computed: no rank has any, then.
bool ComputeIsKnown(const diagnosis::JobTables& tables) {
  return std::any_of(tables.totals.begin(), tables.totals.end(),
                     [](const auto& rank) { return rank.compute.count > 0; });
}

std::string RankLines(const diagnosis::JobTables& tables) {
  const bool known = ComputeIsKnown(tables);
  const auto share = [known](double part, double whole) {
    return known ? Share(part, whole) : std::string("-");
  };
  Table table({{"  RANK", kRight},
               {"COMPUTE", kRight},
               {"NON-COMPUTE", kRight},
               {"IDLE", kRight},
               {"OVERLAP", kRight},
               {"WAITED", kRight},
               {"LATE", kRight}});
  for (const auto& rank : Shown(tables)) {
    const double compute = rank.compute.Seconds(), other = rank.non_compute.Seconds();
    const double span = compute + other + rank.idle.Seconds();
    table.Add({Cat("  ", rank.rank.value), share(compute, span), share(other, span),
               share(rank.idle.Seconds(), span), share(rank.overlap_ratio, 1),
               Seconds(rank.wait.Seconds()), Seconds(rank.late.Seconds())});
  }
  std::string lines = table.ToString();
  if (tables.totals.size() > kRanksShown) {
    AppendTo(&lines, "  the latest of ", tables.totals.size(), " ranks\n");
  }
  return lines;
}

// What ran longest, all ranks together.
std::string WorkLines(const diagnosis::JobTables& tables) {
  std::map<std::pair<std::string, std::string>, double> sums;
  double all = 0;
  for (const auto& rank : tables.ranks) {
    for (const auto& row : rank.kernels) {
      sums[{row.kind, row.name}] += row.sum;
      all += row.sum;
    }
  }
  std::vector<std::pair<double, std::pair<std::string, std::string>>> longest;
  for (const auto& [work, sum] : sums) longest.push_back({sum, work});
  std::sort(longest.begin(), longest.end(), std::greater<>());
  longest.resize(std::min(longest.size(), kWorkShown));
  std::string lines;
  for (const auto& [sum, work] : longest) {
    const bool cut = work.second.size() > kNameShown;
    AppendTo(&lines, "  ", Share(sum, all), "  ", work.first, "  ",
             work.second.substr(0, kNameShown), cut ? "…\n" : "\n");
  }
  return lines;
}

}  // namespace

std::string TimeSpent(const diagnosis::JobTables& tables, const Terminal& terminal) {
  std::string out;
  if (!tables.totals.empty()) {
    AppendTo(&out, "\n", Paint(terminal, Ink::kBold, "Where the time went"), "\n",
             RankLines(tables));
  }
  const std::string work = WorkLines(tables);
  if (!work.empty()) {
    AppendTo(&out, "\n", Paint(terminal, Ink::kBold, "Longest work, all ranks"), "\n", work);
  }
  return out;
}

}  // namespace fathom::cli
