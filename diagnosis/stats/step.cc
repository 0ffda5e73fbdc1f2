#include "diagnosis/stats/step.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

double SpreadAbout(const std::vector<double>& values, double median, const StepLimits& limits) {
  return std::max(MadSigma(values, median), limits.noise_floor * median);
}

// Without what is far from the middle of its side.
std::vector<double> Clipped(std::vector<double> values, const StepLimits& limits) {
  const Side side = SideOf(values, limits);
  const double most = limits.spike * side.sigma;
  for (double& v : values) v = std::clamp(v, side.median - most, side.median + most);
  return values;
}

// Sum of squares about the mean, and about the straight line that fits best.
struct Spread {
  double about_mean = 0;
  double about_line = 0;
};

Spread SpreadOf(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0, along = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    squares += values[i] * values[i];
    along += (static_cast<double>(i) - (n - 1) / 2) * values[i];
  }
  const double about_mean = squares - sum * sum / n;
  return {about_mean, about_mean - along * along * 12 / (n * (n * n - 1))};
}

}  // namespace

Side SideOf(const std::vector<double>& values, const StepLimits& limits) {
  const double median = Median(values);
  return {median, SpreadAbout(values, median, limits), static_cast<double>(values.size())};
}

Split BestSplit(std::vector<double> values, std::size_t low, std::size_t high,
                const StepLimits& limits) {
  const double middle = Median(values), sigma = SpreadAbout(values, middle, limits);
  const double most = limits.spike * sigma;
  double all = 0;
  for (double& v : values) {
    v = std::clamp(v, middle - most, middle + most);
    all += v;
  }
  const auto n = static_cast<double>(values.size());
  Split best{low, 0};
  double sum = 0;
  for (std::size_t k = 0; k < high; ++k) {
    if (k >= low) {
      const auto before = static_cast<double>(k), after = n - before;
      const double step = ((all - sum) / after - sum / before) * std::sqrt(before * after / n);
      if (step > best.score) best = {k, step};
    }
    sum += values[k];
  }
  if (sigma > 0) best.score /= sigma;
  return best;
}

double ClippedMean(const std::vector<double>& values, double most) {
  if (values.empty()) return 0;
  const double middle = Median(values);
  double sum = 0;
  for (double v : values) sum += std::clamp(v - middle, -most, most);
  return middle + sum / static_cast<double>(values.size());
}

Step StepAt(const std::vector<double>& values, std::size_t split, const StepLimits& limits) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(split);
  const std::vector<double> before(values.begin(), middle), after(middle, values.end());
  const double low = Median(before), high = Median(after);
  std::vector<double> rest;
  rest.reserve(values.size());
  for (double v : before) rest.push_back(v - low);
  for (double v : after) rest.push_back(v - high);
  const double sigma = std::max({MadSigma(rest, 0), limits.noise_floor * low, 0.0});
  const double share =
      1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size());
  const double most = limits.spike * sigma;
  return {ClippedMean(before, most), ClippedMean(after, most), sigma, sigma * std::sqrt(share)};
}

bool Apart(const std::vector<double>& values, double limit, bool above, double share) {
  const auto right =
      std::count_if(values.begin(), values.end(), [&](double v) { return (v > limit) == above; });
  return static_cast<double>(right) >= share * static_cast<double>(values.size());
}

bool BetterThanALine(const std::vector<double>& earlier, const std::vector<double>& later,
                     const StepLimits& limits) {
  const double origin = earlier.front();  // keeps the squares small
  std::vector<double> before = Clipped(earlier, limits), after = Clipped(later, limits);
  for (double& v : before) v -= origin;
  for (double& v : after) v -= origin;
  std::vector<double> all = before;
  all.insert(all.end(), after.begin(), after.end());
  const double step = SpreadOf(before).about_mean + SpreadOf(after).about_mean;
  return step <= SpreadOf(all).about_line;
}

}  // namespace fathom::diagnosis
