#include "diagnosis/watch/shift.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// What a step must measure: shift_goes_on of it is `part`, all of it 1.
struct StepNeeded {
  double sigmas;
  double quiet_noise;  // of the median, up to which quiet_delta is enough
  double quiet_delta;
  double noisy_delta;
};

StepNeeded StepNeededOf(const DiagnosisConfig& config, double part) {
  return {part * config.shift_sigmas, config.quiet_noise() / part, config.shift_delta,
          1 + part * (config.noisy_shift_delta - 1)};
}

bool IsStep(const Side& before, const Side& after, const StepNeeded& needed) {
  const double sigma = std::max(before.sigma, after.sigma);
  const double error = sigma * std::sqrt(1 / before.count + 1 / after.count);
  const bool quiet = sigma <= needed.quiet_noise * before.median;
  const double delta = quiet ? needed.quiet_delta : needed.noisy_delta;
  return after.median >= delta * before.median &&
         after.median - before.median >= needed.sigmas * error;
}

Shift From(const JobSeries& series, double after) {
  return {series.PlaceOf(series.episode), series.reference, (series.reference + after) / 2};
}

// The newest points alone are a step above the baseline of the episode.
std::optional<Shift> BeginsAnew(const JobSeries& series, const std::vector<double>& recent,
                                const DiagnosisConfig& config) {
  const Side after = SideOf(recent, StepLimitsOf(config));
  const StepNeeded needed = StepNeededOf(config, 1);
  if (!IsStep({series.reference, after.sigma, after.count}, after, needed)) return std::nullopt;
  const Shift shift = From(series, after.median);
  const bool apart = Apart(recent, shift.limit, true, config.consistent_share);
  return apart ? std::optional<Shift>(shift) : std::nullopt;
}

// All points since the onset are a step, by half of what it takes to begin an episode, and the
// newest ones are nearer to it than to the baseline.
std::optional<Shift> Lasts(const JobSeries& series, const std::vector<double>& recent,
                           const DiagnosisConfig& config) {
  const std::size_t onset = series.PlaceOf(series.episode), n = series.points.size();
  if (n < onset + recent.size()) return std::nullopt;
  const Side after = SideOf(SecondsOf(series, onset, n), StepLimitsOf(config));
  const StepNeeded needed = StepNeededOf(config, config.shift_goes_on);
  if (!IsStep({series.reference, after.sigma, after.count}, after, needed)) return std::nullopt;
  const Shift shift = From(series, after.median);
  return Median(recent) > shift.limit ? std::optional<Shift>(shift) : std::nullopt;
}

std::optional<Shift> GoesOn(const JobSeries& series, const DiagnosisConfig& config) {
  const std::size_t n = series.points.size();
  const auto count = static_cast<std::size_t>(config.baseline_iterations);
  if (n < count) return std::nullopt;
  const std::vector<double> recent = SecondsOf(series, n - count, n);
  const std::optional<Shift> anew = BeginsAnew(series, recent, config);
  return anew ? anew : Lasts(series, recent, config);
}

// Of trouble that is over, or has left the window, nothing is to be told again.
JobSeries WithoutPastTrouble(const JobSeries& series, const DiagnosisConfig& config) {
  JobSeries out = series;
  const std::size_t calm = AfterCalm(series, config);
  const Iteration since = calm < series.points.size() ? series.points[calm].index : Iteration(-1);
  std::erase_if(out.points, [&](const SeriesPoint& point) {
    return !point.regular && (point.past || point.index < since);
  });
  return out;
}

// Of the points from `origin` on alone.
std::optional<Shift> BeginsAfter(const JobSeries& series, std::size_t origin,
                                 const DiagnosisConfig& config) {
  const std::size_t n = series.points.size();
  const auto low = static_cast<std::size_t>(config.learning_iterations);
  const std::size_t least = static_cast<std::size_t>(config.baseline_iterations);
  if (n < origin + low + least) return std::nullopt;
  const StepLimits limits = StepLimitsOf(config);
  const std::vector<double> all = SecondsOf(series, origin, n);
  const std::size_t split = origin + BestSplit(all, low, all.size() - least + 1, limits).at;
  const std::vector<double> earlier = SecondsOf(series, origin, split),
                            later = SecondsOf(series, split, n);
  const Side before = SideOf(earlier, limits), after = SideOf(later, limits);
  if (!IsStep(before, after, StepNeededOf(config, 1))) return std::nullopt;
  const Shift shift{split, before.median, (before.median + after.median) / 2};
  const bool apart = BetterThanALine(earlier, later, limits) &&
                     Apart(earlier, shift.limit, false, config.consistent_share) &&
                     Apart(later, shift.limit, true, config.consistent_share);
  return apart ? std::optional<Shift>(shift) : std::nullopt;
}

// Where the points from `origin` on have dropped most; nothing: no drop is beyond chance.
std::optional<std::size_t> AfterTheDrop(const JobSeries& series, std::size_t origin,
                                        const DiagnosisConfig& config) {
  std::vector<double> values = SecondsOf(series, origin, series.points.size());
  if (values.size() < 2) return std::nullopt;
  std::reverse(values.begin(), values.end());
  const StepLimits limits = StepLimitsOf(config);
  const std::size_t split = BestSplit(values, 1, values.size(), limits).at;
  if (StepAt(values, split, limits).Score() < config.shift_sigmas) return std::nullopt;
  return series.points.size() - split;
}

std::optional<Shift> Begins(const JobSeries& series, const DiagnosisConfig& config) {
  std::optional<std::size_t> origin = 0;
  while (origin) {
    const std::optional<Shift> shift = BeginsAfter(series, *origin, config);
    if (shift) return shift;
    origin = AfterTheDrop(series, *origin, config);
  }
  return std::nullopt;
}

}  // namespace

StepLimits StepLimitsOf(const DiagnosisConfig& config) {
  return {config.spike_sigmas, (config.shift_delta - 1) / config.shift_sigmas};
}

std::optional<Shift> FindShift(const JobSeries& series, const DiagnosisConfig& config) {
  if (series.reference <= 0) return std::nullopt;
  if (series.episode.value >= 0) return GoesOn(series, config);
  const JobSeries present = WithoutPastTrouble(series, config);
  std::optional<Shift> shift = Begins(present, config);
  if (shift) shift->first = series.PlaceOf(present.points[shift->first].index);
  return shift;
}

}  // namespace fathom::diagnosis
