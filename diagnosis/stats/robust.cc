#include "diagnosis/stats/robust.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fathom::diagnosis {
namespace {

constexpr double kMadToSigma = 1.4826;

}  // namespace

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

double MadSigma(const std::vector<double>& values, double center) {
  std::vector<double> distance;
  distance.reserve(values.size());
  for (double v : values) distance.push_back(std::abs(v - center));
  return kMadToSigma * Median(std::move(distance));
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<std::size_t>(below)];
  const double share = place - static_cast<double>(below);
  if (share <= 0) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  return low + share * (high - low);
}

}  // namespace fathom::diagnosis
