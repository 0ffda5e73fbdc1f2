#include <algorithm>
#include <cstdio>

#include "kernels/cuda/clock/gpu_clock.h"
#include "kernels/measure/samples.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kPoints = 8;  // of the clock over time that are told

std::vector<double> Hertz(std::span<const ClockMoment> moments) {
  std::vector<double> values;
  for (const ClockMoment& moment : moments) values.push_back(moment.hertz);
  return values;
}

std::string At(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "at %.2f s", seconds);
  return text;
}

}  // namespace

std::vector<ClockMoment> ClockOverTime(std::span<const ClockLook> looks, std::size_t per_processor,
                                       std::uint64_t begin_ns) {
  std::vector<ClockMoment> moments;
  for (std::size_t i = 1; i < per_processor; ++i) {
    std::vector<double> clocks;
    std::vector<double> times;
    for (std::size_t first = 0; first + per_processor <= looks.size(); first += per_processor) {
      const ClockLook& before = looks[first + i - 1];
      const ClockLook& now = looks[first + i];
      if (now.nanoseconds <= before.nanoseconds || before.nanoseconds < begin_ns) continue;
      clocks.push_back(1e9 * static_cast<double>(now.cycles - before.cycles) /
                       static_cast<double>(now.nanoseconds - before.nanoseconds));
      times.push_back(1e-9 * static_cast<double>(now.nanoseconds - begin_ns));
    }
    if (!clocks.empty()) moments.push_back({.at_s = MedianOf(times), .hertz = MedianOf(clocks)});
  }
  return moments;
}

std::vector<Figure> ClockFigures(const std::vector<ClockMoment>& moments) {
  if (moments.size() < 4) return {};
  const std::span<const ClockMoment> all(moments);
  const std::vector<double> last = Hertz(all.subspan(all.size() - all.size() / 4));
  const std::vector<double> every = Hertz(all);
  const double best = QuantileOf(every, 0.99);
  std::vector<Figure> figures = {
      MedianFigure("gpu_clock", "", Hertz(all.subspan(all.size() / 2)), "1/s"),
      {.name = "gpu_clock_held", .value = best > 0 ? MedianOf(last) / best : 0, .unit = "ratio"}};
  const std::size_t step = std::max<std::size_t>(1, all.size() / kPoints);
  for (std::size_t i = 0; i + step <= all.size(); i += step) {
    figures.push_back(MedianFigure("gpu_clock_at", At(all[i + step / 2].at_s),
                                   Hertz(all.subspan(i, step)), "Hz"));
  }
  return figures;
}

}  // namespace fathom::kernels
