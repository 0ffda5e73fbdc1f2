#include "collector/import/repetition.h"

#include <algorithm>

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

}  // namespace fathom::collector
