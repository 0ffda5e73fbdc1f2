#include "diagnosis/functions/patterns/critical_duration.h"

namespace fathom::diagnosis {
namespace {

struct Run {
  SamplePart part;
  double area = 0;
};

// The run with most of the area, across gaps of at most `gap` zeros.
Run LargestRun(std::span<const float> utilisation, std::size_t gap) {
  Run best, run;
  std::size_t zeros = 0;
  const auto close = [&] {
    if (run.area > best.area) best = run;
    run = {};
  };
  for (std::size_t i = 0; i < utilisation.size(); ++i) {
    if (utilisation[i] <= 0) {
      if (++zeros > gap) close();
      continue;
    }
    if (run.part.empty()) run.part.begin = i;
    run.part.end = i + 1;
    run.area += static_cast<double>(utilisation[i]);
    zeros = 0;
  }
  close();
  return best;
}

}  // namespace

SamplePart CriticalDuration(std::span<const float> utilisation) {
  double all = 0;
  for (const float each : utilisation) all += each > 0 ? static_cast<double>(each) : 0;
  if (all <= 0) return {};
  constexpr double kRounding = 1e-9;
  const double enough = kOfArea * all * (1 - kRounding);
  std::size_t low = 0, high = utilisation.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (LargestRun(utilisation, middle).area >= enough) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return LargestRun(utilisation, low).part;
}

}  // namespace fathom::diagnosis
