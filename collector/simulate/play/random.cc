#include "collector/simulate/play/random.h"

#include <cmath>

namespace fathom::simulate {

// By bisection of the distribution function: only tables are made with it.
double NormalQuantile(double p) {
  double low = -9, high = 9;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

LogNormal::LogNormal(double sigma) {
  static const auto kQuantiles = [] {
    std::array<double, std::size_t{1} << kBits> z{};
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] = NormalQuantile((static_cast<double>(i) + 0.5) / static_cast<double>(z.size()));
    }
    return z;
  }();
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = std::exp(sigma * kQuantiles[i]);
}

}  // namespace fathom::simulate
