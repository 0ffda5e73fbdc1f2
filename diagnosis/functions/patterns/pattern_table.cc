#include "diagnosis/functions/patterns/pattern_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "diagnosis/functions/patterns/localise.h"

namespace fathom::diagnosis {
namespace {

using Key = std::tuple<FunctionClass, std::string, std::string, std::uint32_t>;

// A function on all ranks: its pattern by place of the rank, null where it has none.
using OfRanks = std::vector<const NamedPattern*>;

float BestOf(const OfRanks& ranks) {
  float best = 1;
  for (const NamedPattern* each : ranks) {
    if (each != nullptr) best = std::max(best, each->pattern.mu);
  }
  return best;
}

PatternColumn ColumnOf(FunctionClass of, const OfRanks& ranks) {
  const float best = BestOf(ranks);
  PatternColumn column{of, {}, {}, {}};
  for (const NamedPattern* each : ranks) {
    column.beta.push_back(each == nullptr ? 0 : each->pattern.beta);
    column.mu.push_back(each == nullptr ? 0 : each->pattern.mu / best);
    column.sigma.push_back(each == nullptr ? 0 : each->pattern.sigma / best);
  }
  return column;
}

void AddRows(const std::vector<RankId>& ranks, FunctionClass of, const OfRanks& patterns,
             std::vector<PatternRow>& rows) {
  const PatternColumn column = ColumnOf(of, patterns);
  const std::vector<std::uint32_t> differs = DifferencesOf(column, {});
  const std::size_t first = rows.size();
  std::vector<std::size_t> row_of(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (patterns[i] == nullptr) continue;
    row_of[i] = rows.size();
    PatternRow row{ranks[i], *patterns[i], 0, differs[i], false};
    row.of.pattern.mu = column.mu[i];
    row.of.pattern.sigma = column.sigma[i];
    rows.push_back(std::move(row));
  }
  for (const OddPattern& odd : Localise(column)) {
    if (patterns[odd.worker] == nullptr || rows.size() == first) continue;
    PatternRow& row = rows[row_of[odd.worker]];
    row.odd = true;
    row.distance = static_cast<double>(odd.distance);
  }
}

}  // namespace

std::vector<PatternRow> PatternTable(const RankPatterns& ranks, std::size_t most) {
  std::vector<RankId> numbers;
  std::map<Key, OfRanks> functions;
  for (const auto& [rank, patterns] : ranks) {
    for (const NamedPattern& each : patterns) {
      OfRanks& of = functions[{each.pattern.of, each.function, each.file, each.line}];
      of.resize(ranks.size(), nullptr);
      of[numbers.size()] = &each;
    }
    numbers.push_back(rank);
  }
  std::vector<PatternRow> rows;
  for (const auto& [key, patterns] : functions) {
    AddRows(numbers, std::get<FunctionClass>(key), patterns, rows);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const PatternRow& a, const PatternRow& b) {
    return std::pair(a.odd, a.of.pattern.beta) > std::pair(b.odd, b.of.pattern.beta);
  });
  rows.resize(std::min(rows.size(), most));
  return rows;
}

std::string_view ClassName(FunctionClass of) {
  switch (of) {
    case FunctionClass::kCompute:
      return "compute";
    case FunctionClass::kMemory:
      return "memory";
    case FunctionClass::kCollective:
      return "collective";
    case FunctionClass::kHost:
      break;
  }
  return "host";
}

}  // namespace fathom::diagnosis
