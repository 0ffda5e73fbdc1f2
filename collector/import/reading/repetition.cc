#include "collector/import/reading/repetition.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::collector {
namespace {

// The stretch around the middle in which every op equals the one `lag` ops later.
Repetition Around(std::span<const std::uint64_t> keys, std::size_t lag) {
  const std::size_t middle = (keys.size() - lag) / 2;
  std::size_t begin = middle, end = middle;
  while (begin > 0 && keys[begin - 1] == keys[begin - 1 + lag]) --begin;
  while (end + lag < keys.size() && keys[end] == keys[end + lag]) ++end;
  return {lag, begin, end + lag};
}

}  // namespace

std::optional<Repetition> FindPeriod(std::span<const std::uint64_t> keys) {
  const std::size_t longest = std::min(kLongestPeriod, keys.size() / kLeastPeriods);
  for (std::size_t lag = 1; lag <= longest; ++lag) {
    const Repetition found = Around(keys, lag);
    const std::size_t covered = found.end - found.begin;
    if (covered >= kLeastPeriods * lag && covered * 2 >= keys.size()) return found;
  }
  return std::nullopt;
}

std::size_t FirstBorder(const Repetition& found, std::size_t lines,
                        const std::function<double(std::size_t line, std::size_t op)>& gap) {
  std::size_t best = found.begin;
  double longest = 0;
  for (std::size_t phase = 0; phase < found.period; ++phase) {
    double sum = 0;
    for (std::size_t line = 0; line < lines; ++line) {
      std::vector<double> gaps;
      for (std::size_t i = found.begin + phase; i + 1 < found.end; i += found.period) {
        gaps.push_back(gap(line, i));
      }
      sum += diagnosis::Median(std::move(gaps));
    }
    if (phase == 0 || sum > longest) longest = sum, best = found.begin + phase;
  }
  return best;
}

}  // namespace fathom::collector
