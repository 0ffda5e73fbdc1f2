#include "diagnosis/functions/patterns/patterns.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "diagnosis/functions/patterns/critical_duration.h"

namespace fathom::diagnosis {
namespace {

struct Sums {
  FunctionClass of = FunctionClass::kHost;
  double count = 0, sum = 0, squares = 0;
};

void Add(const Execution& execution, Sums& sums) {
  sums.of = execution.of;
  const std::span<const float> all(execution.utilisation);
  const SamplePart part = CriticalDuration(all);
  for (const float each : all.subspan(part.begin, part.end - part.begin)) {
    const auto value = static_cast<double>(each);
    sums.count += 1;
    sums.sum += value;
    sums.squares += value * value;
  }
}

}  // namespace

std::vector<FunctionPattern> PatternsOf(const std::vector<Execution>& executions,
                                        std::int64_t begin, std::int64_t end) {
  const std::vector<double> shares = CriticalShares(executions, begin, end);
  std::vector<Sums> sums(shares.size());
  for (const Execution& each : executions) {
    if (each.end > begin && each.begin < end) Add(each, sums[each.function]);
  }
  std::vector<FunctionPattern> patterns;
  for (std::uint32_t i = 0; i < shares.size(); ++i) {
    if (shares[i] <= 0) continue;
    FunctionPattern pattern{i, sums[i].of, static_cast<float>(shares[i]), 1, 0};
    if (sums[i].count > 0) {
      const double mean = sums[i].sum / sums[i].count;
      const double variance = std::max(0.0, sums[i].squares / sums[i].count - mean * mean);
      pattern.mu = static_cast<float>(mean);
      pattern.sigma = static_cast<float>(std::sqrt(variance));
    }
    patterns.push_back(pattern);
  }
  return patterns;
}

}  // namespace fathom::diagnosis
