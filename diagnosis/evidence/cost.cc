#include "diagnosis/evidence/cost.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMinutesPerHour = 60;

}  // namespace

double MedianDuration(const JobView& view) {
  std::vector<double> durations;
  for (const IterationSummary& it : view.window) {
    for (const RankIteration& r : it.ranks) durations.push_back(r.duration.Seconds());
  }
  return Median(std::move(durations));
}

Cost CostOfSlowness(const JobView& view, const Suspicion& suspicion, double share) {
  Cost cost;
  const double expected = suspicion.expected.Seconds();
  cost.seconds_per_iteration = share * std::max(0.0, suspicion.measured.Seconds() - expected);
  cost.slowdown = expected > 0 ? 1 + cost.seconds_per_iteration / expected : 1;
  if (view.window.empty() || suspicion.onset.value < 0) return cost;
  double lost = 0;
  for (const IrregularIteration& it : suspicion.irregular) {
    if (it.index >= suspicion.onset) lost += std::max(0.0, it.duration.Seconds() - expected);
  }
  const std::int64_t since = view.window.back().index.value - suspicion.onset.value + 1;
  const std::int64_t gone = since - suspicion.seen_since_onset;
  lost = share * lost +
         cost.seconds_per_iteration * static_cast<double>(std::max<std::int64_t>(0, gone));
  cost.gpu_hours = lost * view.world_size / kSecondsPerHour;
  return cost;
}

Cost CostOfHang(const JobView& view, Nanos stuck_for) {
  Cost cost;
  cost.gpu_hours = stuck_for.Seconds() * view.world_size / kSecondsPerHour;
  cost.gpu_hours_per_minute = view.world_size / kMinutesPerHour;
  return cost;
}

Cost CostOfSteps(const JobView& view, std::size_t steps, double step_s, double repaired_s) {
  Cost cost;
  cost.slowdown = step_s / repaired_s;
  cost.seconds_per_iteration = step_s - repaired_s;
  cost.gpu_hours =
      cost.seconds_per_iteration * static_cast<double>(steps) * view.world_size / kSecondsPerHour;
  return cost;
}

Cost CostOfWindow(const JobView& view, double lost) {
  const double duration = MedianDuration(view);
  Cost cost = CostOfSteps(view, view.window.size(), duration, duration - lost);
  if (duration <= lost) cost.slowdown = 1;
  return cost;
}

double PosteriorOdds(double prior, std::size_t shows, std::size_t iterations, double chance,
                     double guilty) {
  const double with = static_cast<double>(shows), without = static_cast<double>(iterations - shows);
  const double log_ratio =
      with * std::log(guilty / chance) + without * std::log((1 - guilty) / (1 - chance));
  return prior * std::exp(std::clamp(log_ratio, -200.0, 200.0));
}

double ChanceToShow(const Ledger& ledger, const RankAccount& account,
                    const DiagnosisConfig& config) {
  const double seen = static_cast<double>(account.baseline_shows + 1) /
                      static_cast<double>(ledger.baseline_iterations + 2);
  return std::min(std::max(seen, config.chance_share()), config.consistent_share);
}

}  // namespace fathom::diagnosis
