#include "collector/month/recovery_loss.h"

#include <algorithm>
#include <array>

namespace fathom::collector {
namespace {

constexpr double kHourSeconds = 3600;

struct StageStretch {
  const char* stage;
  std::int64_t begin = 0, end = 0;  // 0: not known
  std::int64_t stood_from = 0;      // GPU-hours count from here on; 0: none
};

double SecondsWithin(std::int64_t begin, std::int64_t end, WallNs from, WallNs until) {
  if (begin == 0 || end == 0) return 0;
  const std::int64_t shared = std::min(end, until.ns) - std::max(begin, from.ns);
  return std::max(0.0, 1e-9 * static_cast<double>(shared));
}

std::array<StageStretch, 6> StretchesOf(const ToldRecovery& recovery) {
  const RecoveryTimes& t = recovery.times;
  const std::int64_t decided = t.planned_ns == 0 ? t.begun_ns : t.planned_ns;
  // It stood no longer than this.
  const std::int64_t stop = t.running_ns != 0      ? t.running_ns
                            : recovery.under_way() ? recovery.told_ns
                                                   : t.ended_ns;
  const bool left = t.isolated_ns != 0;
  const auto anew = static_cast<std::int64_t>(1e9 * StagesOf(t).lost_work_s);
  return {{{"detection", t.onset_ns, t.planned_ns, 0},
           {"decision", decided, t.first_step_ns, 0},
           {"isolation", t.first_step_ns, t.isolated_ns, left ? t.isolating_ns : 0},
           {"restart", t.isolated_ns, left ? stop : 0, t.isolated_ns},
           {"warm-up", t.running_ns, t.warm_ns, 0},
           {"lost work", t.running_ns, t.running_ns == 0 ? 0 : t.running_ns + anew, t.running_ns}}};
}

double GpuHours(const ToldRecovery& recovery, const StageStretch& stretch, WallNs from,
                WallNs until) {
  if (stretch.stood_from == 0) return 0;
  const double seconds = SecondsWithin(stretch.stood_from, stretch.end, from, until);
  return recovery.times.processes * seconds / kHourSeconds;
}

}  // namespace

RecoveryLosses RecoveryLossesOf(const std::vector<ToldRecovery>& recoveries, WallNs since,
                                WallNs until) {
  RecoveryLosses losses;
  for (const StageStretch& stage : StretchesOf({})) losses.stages.push_back({stage.stage});
  for (const ToldRecovery& recovery : recoveries) {
    const auto stretches = StretchesOf(recovery);
    double any = 0;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const double seconds = SecondsWithin(stretches[i].begin, stretches[i].end, since, until);
      losses.stages[i].seconds += seconds;
      losses.stages[i].gpu_hours += GpuHours(recovery, stretches[i], since, until);
      any += seconds;
    }
    losses.count += any > 0;
    losses.recovered += any > 0 && recovery.state == "recovered";
  }
  return losses;
}

double RecoveryHours(const ToldRecovery& recovery, WallNs begin, WallNs end) {
  double hours = 0;
  for (const StageStretch& stretch : StretchesOf(recovery))
    hours += GpuHours(recovery, stretch, begin, end);
  return hours;
}

}  // namespace fathom::collector
