// The known name nearest to a mistyped one, for error messages.
//
// Used by the settings of fathom-collector and fathom-cordon, and by the command line, which adds
// its own bound on how near is near. Header only: its users share no library.
//
// Thread-safety: pure functions. Cost: O(names × length²). Source: Levenshtein distance.
#ifndef FATHOM_COLLECTOR_CONFIG_NEAREST_H_
#define FATHOM_COLLECTOR_CONFIG_NEAREST_H_

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::collector {

// Insertions, deletions and changes of a character that turn `a` into `b`.
inline std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

// The first of the nearest; empty only where nothing is known.
inline std::string Nearest(std::string_view name, const std::vector<std::string>& known) {
  const auto best = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return EditDistance(name, a) < EditDistance(name, b);
  });
  return best == known.end() ? "" : *best;
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_NEAREST_H_
