#include "diagnosis/history/metric_shift.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/stats/robust.h"
#include "diagnosis/stats/student_t.h"

namespace fathom::diagnosis {
namespace {

// What runs that do the same differ by at least: times by the machine, operations by nothing.
constexpr double kLeastOfTime = 0.003, kLeastOfVoid = 0.02, kLeastOfRate = 0.005;
constexpr double kLeastOfWork = 0.001;
// Fewer iterations that tell it are no mean of the run.
constexpr double kMostTell = 0.8;

template <typename Value>
MetricShift Compare(const Distribution& run, const std::vector<Distribution>& history,
                    double least_spread, Value&& value) {
  std::vector<double> earlier;
  for (const Distribution& each : history) earlier.push_back(value(each));
  return ShiftOf(value(run), earlier, least_spread);
}

double NoiseOf(const std::vector<Distribution>& history) {
  std::vector<double> noises;
  for (const Distribution& each : history) noises.push_back(each.noise);
  return Mean(noises);
}

double VoidOr0(const IterationParts& parts, double seconds) {
  return parts.void_known >= kMostTell ? seconds : 0;
}

}  // namespace

MetricShift ShiftOf(double run, const std::vector<double>& history, double least_spread) {
  MetricShift shift;
  const auto told = [](double value) { return value > 0; };
  shift.known =
      told(run) && history.size() > 1 && std::all_of(history.begin(), history.end(), told);
  if (!shift.known) return shift;
  const auto runs = static_cast<double>(history.size());
  double mean = 0, squares = 0;
  for (const double value : history) mean += std::log(value) / runs;
  for (const double value : history) squares += std::pow(std::log(value) - mean, 2);
  shift.degrees = MetricShift::kPriorDegrees + static_cast<int>(history.size()) - 1;
  const double variance =
      (MetricShift::kPriorDegrees * least_spread * least_spread + squares) / shift.degrees;
  shift.scale = std::sqrt(variance * (1 + 1 / runs));
  shift.before = std::exp(mean);
  shift.after = run;
  shift.spread = std::sqrt(squares / (runs - 1));
  shift.chance_above = StudentTail((std::log(run) - mean) / shift.scale, shift.degrees);
  shift.chance_below = 1 - shift.chance_above;
  return shift;
}

double MetricShift::GrowthAt(double chance) const {
  return std::exp(StudentQuantile(chance, degrees) * scale) - 1;
}

double FlopRate(const IterationParts& parts) {
  if (parts.flop_known < kMostTell || parts.void_known < kMostTell) return 0;
  const double busy_s = parts.duration_s - parts.void_s() - parts.communication_s;
  constexpr double kLeastShare = 0.02;  // of the iteration; what is less is a difference of errors
  if (busy_s < kLeastShare * parts.duration_s) return 0;
  return SumOf(parts.flop) / busy_s;
}

MetricShifts ShiftsOf(const Distribution& run, const std::vector<Distribution>& history) {
  MetricShifts shifts;
  const double least_of_time = std::max(kLeastOfTime, NoiseOf(history));
  shifts.duration = Compare(run, history, least_of_time,
                            [](const Distribution& each) { return each.Location(); });
  shifts.net =
      Compare(run, history, least_of_time, [](const Distribution& each) { return each.net_s; });
  shifts.between = Compare(run, history, kLeastOfVoid, [](const Distribution& each) {
    return VoidOr0(each.mean, each.mean.void_between_s);
  });
  shifts.within = Compare(run, history, kLeastOfVoid, [](const Distribution& each) {
    return VoidOr0(each.mean, each.mean.void_within_s);
  });
  shifts.rate = Compare(run, history, std::max(kLeastOfRate, NoiseOf(history)),
                        [](const Distribution& each) { return FlopRate(each.mean); });
  shifts.work = Compare(run, history, kLeastOfWork, [](const Distribution& each) {
    return each.mean.flop_known >= kMostTell ? SumOf(each.mean.flop) : 0;
  });
  return shifts;
}

}  // namespace fathom::diagnosis
