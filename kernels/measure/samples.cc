#include "kernels/measure/samples.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fathom::kernels {

double QuantileOf(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double MedianOf(std::vector<double> values) { return QuantileOf(std::move(values), 0.5); }

double SpreadOf(const std::vector<double>& values) {
  const double center = MedianOf(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - center));
  return 1.4826 * MedianOf(std::move(distances));
}

Figure MedianFigure(std::string name, std::string where, const std::vector<double>& values,
                    std::string unit) {
  return {.name = std::move(name),
          .where = std::move(where),
          .value = MedianOf(values),
          .spread = SpreadOf(values),
          .unit = std::move(unit),
          .slices = static_cast<unsigned>(values.size())};
}

}  // namespace fathom::kernels
