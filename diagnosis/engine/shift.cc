#include "diagnosis/engine/shift.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kClip = 4;           // sigmas: one spike must not look like a step
constexpr double kLeastNoise = 1e-4;  // of the median: clocks and sums are not finer
constexpr double kOfLine = 0.8;       // of what a line leaves unexplained: the step leaves less
constexpr double kToGoOn = 0.5;       // of the evidence that began it, for it to go on

std::vector<double> Seconds(const JobSeries& series, std::size_t from, std::size_t to) {
  std::vector<double> values;
  for (std::size_t i = from; i < to; ++i) values.push_back(series.points[i].seconds);
  return values;
}

// The split of the largest difference of means, each in units of its standard error.
std::size_t BestSplit(std::vector<double> values, std::size_t low, std::size_t high) {
  const double middle = Median(values), sigma = MadSigma(values, middle);
  double all = 0;
  for (double& v : values) {
    v = std::clamp(v, middle - kClip * sigma, middle + kClip * sigma);
    all += v;
  }
  const auto n = static_cast<double>(values.size());
  std::size_t best = low;
  double most = 0, sum = 0;
  for (std::size_t k = 0; k < high; ++k) {
    if (k >= low) {
      const auto before = static_cast<double>(k), after = n - before;
      const double step = ((all - sum) / after - sum / before) * std::sqrt(before * after / n);
      if (step > most) most = step, best = k;
    }
    sum += values[k];
  }
  return best;
}

struct Side {
  double median = 0;
  double sigma = 0;
  double count = 0;
};

Side SideOf(const std::vector<double>& values) {
  const double median = Median(values);
  return {median, std::max(MadSigma(values, median), kLeastNoise * median),
          static_cast<double>(values.size())};
}

bool IsStep(const Side& before, const Side& after, const DiagnosisConfig& config) {
  const double sigma = std::max(before.sigma, after.sigma);
  const double error = sigma * std::sqrt(1 / before.count + 1 / after.count);
  return sigma <= config.shift_noise * before.median &&
         after.median >= config.shift_delta * before.median &&
         after.median - before.median >= config.shift_sigmas * error;
}

// Nearly all points of the stretch are on their side of the limit.
bool Apart(const std::vector<double>& values, double limit, bool above, double share) {
  const auto right =
      std::count_if(values.begin(), values.end(), [&](double v) { return (v > limit) == above; });
  return static_cast<double>(right) >= share * static_cast<double>(values.size());
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

// What grows all the while has a best split too, but a straight line explains it better.
bool BetterThanALine(const std::vector<double>& earlier, const std::vector<double>& later) {
  const double origin = earlier.front();  // keeps the squares small
  std::vector<double> before, after, all;
  for (double v : earlier) before.push_back(v - origin);
  for (double v : later) after.push_back(v - origin);
  all = before;
  all.insert(all.end(), after.begin(), after.end());
  const double step = SpreadOf(before).about_mean + SpreadOf(after).about_mean;
  return step <= kOfLine * SpreadOf(all).about_line;
}

Shift From(const JobSeries& series, double after) {
  return {series.PlaceOf(series.episode), series.reference, (series.reference + after) / 2};
}

// The newest points alone are a step above the baseline of the episode.
std::optional<Shift> BeginsAnew(const JobSeries& series, const std::vector<double>& recent,
                                const DiagnosisConfig& config) {
  const Side after = SideOf(recent);
  if (!IsStep({series.reference, after.sigma, after.count}, after, config)) return std::nullopt;
  const Shift shift = From(series, after.median);
  const bool apart = Apart(recent, shift.limit, true, config.persistent_share);
  return apart ? std::optional<Shift>(shift) : std::nullopt;
}

// All points since the onset are a step, by half of what it takes to begin an episode, and the
// newest ones are nearer to it than to the baseline.
std::optional<Shift> Lasts(const JobSeries& series, const std::vector<double>& recent,
                           DiagnosisConfig config) {
  const std::size_t onset = series.PlaceOf(series.episode), n = series.points.size();
  if (n < onset + recent.size()) return std::nullopt;
  const Side after = SideOf(Seconds(series, onset, n));
  config.shift_sigmas *= kToGoOn;
  config.shift_noise /= kToGoOn;
  if (!IsStep({series.reference, after.sigma, after.count}, after, config)) return std::nullopt;
  const Shift shift = From(series, after.median);
  return Median(recent) > shift.limit ? std::optional<Shift>(shift) : std::nullopt;
}

std::optional<Shift> GoesOn(const JobSeries& series, const DiagnosisConfig& config) {
  const std::size_t n = series.points.size();
  const auto count = static_cast<std::size_t>(config.shift_iterations);
  if (n < count) return std::nullopt;
  const std::vector<double> recent = Seconds(series, n - count, n);
  const std::optional<Shift> anew = BeginsAnew(series, recent, config);
  return anew ? anew : Lasts(series, recent, config);
}

}  // namespace

std::optional<Shift> FindShift(const JobSeries& series, const DiagnosisConfig& config) {
  if (series.reference <= 0) return std::nullopt;
  if (series.episode.value >= 0) return GoesOn(series, config);
  const std::size_t n = series.points.size();
  const auto low = static_cast<std::size_t>(config.learning_iterations);
  const std::size_t least = static_cast<std::size_t>(config.shift_iterations);
  if (n < low + least) return std::nullopt;
  const std::size_t split = BestSplit(Seconds(series, 0, n), low, n - least + 1);
  const std::vector<double> earlier = Seconds(series, 0, split), later = Seconds(series, split, n);
  const Side before = SideOf(earlier), after = SideOf(later);
  if (!IsStep(before, after, config)) return std::nullopt;
  const Shift shift{split, before.median, (before.median + after.median) / 2};
  const bool apart = BetterThanALine(earlier, later) &&
                     Apart(earlier, shift.limit, false, config.persistent_share) &&
                     Apart(later, shift.limit, true, config.persistent_share);
  return apart ? std::optional<Shift>(shift) : std::nullopt;
}

}  // namespace fathom::diagnosis
