#include "diagnosis/tables/step_bound.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "diagnosis/model/rank_times.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/watch/group_levels.h"

namespace fathom::diagnosis {
namespace {

using Seconds = std::array<double, kStepParts>;

double& At(Seconds& seconds, StepPart part) { return seconds[static_cast<std::size_t>(part)]; }

// What of a device's time its tables tell apart.
struct DeviceShares {
  double copies = 0;    // of the time in which it computed or copied
  double launches = 0;  // of its idle time: the host had not launched yet
};

DeviceShares SharesOf(const RankTables& tables) {
  DeviceShares out;
  const Breakdown& time = tables.breakdown;
  const double copies = std::max(0.0, time.non_compute - (time.communication - time.overlap));
  if (time.compute + copies > 0) out.copies = copies / (time.compute + copies);
  // A stream that only communicates is idle for reasons of its own: the busiest one tells.
  const auto busiest =
      std::max_element(tables.launches.begin(), tables.launches.end(),
                       [](const LaunchRow& a, const LaunchRow& b) { return a.count < b.count; });
  if (busiest == tables.launches.end()) return out;
  for (const IdleRow& idle : tables.idle) {
    if (idle.stream != busiest->stream) continue;
    const double all = idle.host_wait + idle.kernel_wait + idle.other;
    if (all > 0) out.launches = idle.host_wait / all;
  }
  return out;
}

// How much of its communication a rank waited for others.
double WaitingShare(const RankIteration& rank, const GroupLevels& levels, std::size_t entry) {
  double waited = 0, all = 0;
  for (const GroupIteration& group : rank.groups) {
    all += group.elapsed.Seconds();
    waited += (group.elapsed - levels.Of(entry++).shortest).Seconds();
  }
  return all > 0 ? std::clamp(waited / all, 0.0, 1.0) : 0;
}

// Cuts one iteration of one rank; each part takes at most what is left.
class Cut {
 public:
  explicit Cut(Nanos duration) : left_(std::max(0.0, duration.Seconds())) {}

  double Take(double seconds) {
    const double taken = std::clamp(seconds, 0.0, left_);
    left_ -= taken;
    return taken;
  }
  double left() const { return left_; }

 private:
  double left_;
};

// What it was blocked, into waiting for others and communication itself. Gives back how much.
double AddBlocked(const RankIteration& rank, double waiting, Cut& cut, Seconds& sum) {
  const double blocked = cut.Take(rank.blocked.Seconds());
  At(sum, StepPart::kWaiting) += blocked * waiting;
  At(sum, StepPart::kCommunication) += blocked * (1 - waiting);
  return blocked;
}

void AddMarks(const RankIteration& rank, Cut& cut, Seconds& sum) {
  At(sum, StepPart::kInput) += cut.Take(LoadingOf(rank).Seconds());
  At(sum, StepPart::kCores) += cut.Take(StarvedOf(rank).Seconds());
  At(sum, StepPart::kGarbage) += cut.Take(rank.gc.Seconds());
}

void AddDevice(const RankIteration& rank, double waiting, const DeviceShares& shares,
               Seconds& sum) {
  Cut cut(rank.duration);
  const double busy = cut.Take(rank.device.Seconds());
  At(sum, StepPart::kCopies) += busy * shares.copies;
  At(sum, StepPart::kComputing) += busy * (1 - shares.copies);
  AddBlocked(rank, waiting, cut, sum);
  AddMarks(rank, cut, sum);
  At(sum, StepPart::kHost) += cut.left() * shares.launches;
  At(sum, StepPart::kIdle) += cut.left() * (1 - shares.launches);
}

void AddHostOfGpu(const RankIteration& rank, double waiting, Seconds& sum) {
  Cut cut(rank.duration);
  AddMarks(rank, cut, sum);
  const double blocked = AddBlocked(rank, waiting, cut, sum);
  const double wait = rank.device_wait.Seconds();
  At(sum, StepPart::kGpu) += cut.Take(wait - blocked);
  At(sum, StepPart::kCores) += cut.Take(rank.runqueue.Seconds());
  // A host that waits for its device spins, unless it took less CPU time than it waited.
  const double cpu = (rank.cpu - rank.gc).Seconds();
  At(sum, StepPart::kHost) += cut.Take(cpu >= wait ? cpu - wait : cpu);
  At(sum, wait > 0 ? StepPart::kIdle : StepPart::kGpu) += cut.left();
}

void AddThread(const RankIteration& rank, double waiting, Seconds& sum) {
  Cut cut(rank.duration);
  AddMarks(rank, cut, sum);
  AddBlocked(rank, waiting, cut, sum);
  At(sum, StepPart::kCores) += cut.Take(rank.runqueue.Seconds());
  At(sum, StepPart::kComputing) += cut.Take((rank.cpu - rank.gc).Seconds());
  At(sum, StepPart::kIdle) += cut.left();
}

void Add(const RankIteration& rank, StepClock clock, double waiting, const DeviceShares& shares,
         Seconds& sum) {
  if (clock == StepClock::kDevice) return AddDevice(rank, waiting, shares, sum);
  if (clock == StepClock::kHostOfGpu) return AddHostOfGpu(rank, waiting, sum);
  AddThread(rank, waiting, sum);
}

double MedianDuration(const IterationSummary& iteration) {
  std::vector<double> durations;
  for (const RankIteration& rank : iteration.ranks) durations.push_back(rank.duration.Seconds());
  return Median(std::move(durations));
}

std::vector<const IterationSummary*> UsualIterations(const JobView& view) {
  std::vector<std::pair<double, const IterationSummary*>> all;
  std::vector<double> durations;
  for (const IterationSummary& iteration : view.window) {
    if (iteration.ranks.empty()) continue;
    all.emplace_back(MedianDuration(iteration), &iteration);
    durations.push_back(all.back().first);
  }
  const double most = StepBound::kSpike * Median(std::move(durations));
  std::vector<const IterationSummary*> usual;
  for (const auto& [duration, iteration] : all) {
    if (duration > 0 && duration <= most) usual.push_back(iteration);
  }
  return usual;
}

StepClock ClockOf(const JobView& view) {
  for (const IterationSummary& iteration : view.window) {
    for (const RankIteration& rank : iteration.ranks) {
      if (rank.device.count > 0) return StepClock::kDevice;
    }
  }
  const bool gpu = std::any_of(view.ranks.begin(), view.ranks.end(),
                               [](const RankFacts& facts) { return facts.gpu.has_value(); });
  return gpu ? StepClock::kHostOfGpu : StepClock::kThread;
}

std::string WhyUnknown(const JobView& view, std::size_t usual) {
  if (usual >= StepBound::kLeastIterations) return "";
  if (!view.schedule.empty()) return "the trace names the ops of a schedule only; see what_if";
  return absl::StrCat(StepBound::kLeastIterations, " iterations or more; ",
                      usual == 0 ? "none" : absl::StrCat(usual),
                      usual == 1 ? " is known" : " are known");
}

void PutParts(const Seconds& sum, double samples, StepBound& bound) {
  for (std::size_t i = 0; i < kStepParts; ++i) {
    const double seconds = sum[i] / samples;
    bound.step_s += seconds;
    if (seconds > 0) bound.parts.push_back({static_cast<StepPart>(i), seconds});
  }
  std::stable_sort(bound.parts.begin(), bound.parts.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
}

}  // namespace

double StepBound::share(StepPart part) const {
  for (const Part& each : parts) {
    if (each.part == part && step_s > 0) return each.seconds / step_s;
  }
  return 0;
}

std::vector<StepPart> StepBound::Bounds() const {
  std::vector<StepPart> bounds;
  for (const Part& each : parts) {
    const bool near = parts.front().seconds - each.seconds <= kNear * step_s;
    if (bounds.empty() || (near && bounds.size() < 2)) bounds.push_back(each.part);
  }
  return bounds;
}

const StepBound::Part* StepBound::Loss() const {
  for (const Part& each : parts) {
    if (each.part == StepPart::kComputing || each.part == StepPart::kGpu) continue;
    return each.seconds >= kWorthWinning * step_s ? &each : nullptr;
  }
  return nullptr;
}

StepBound BoundOf(const JobView& view, const std::vector<RankTables>& tables) {
  StepBound bound;
  const auto usual = UsualIterations(view);
  bound.missing = WhyUnknown(view, usual.size());
  if (!bound.known()) return bound;
  bound.clock = ClockOf(view);
  std::map<RankId, DeviceShares> shares;
  for (const RankTables& each : tables) {
    if (each.on_device) shares[each.rank] = SharesOf(each);
  }
  Seconds sum{};
  std::set<RankId> ranks;
  std::size_t samples = 0;
  GroupLevels levels;
  for (const IterationSummary* iteration : usual) {
    levels.Learn(*iteration);
    std::size_t entry = 0;
    for (const RankIteration& rank : iteration->ranks) {
      const double waiting = WaitingShare(rank, levels, entry);
      entry += rank.groups.size();
      ranks.insert(rank.rank);
      ++samples;
      Add(rank, bound.clock, waiting, shares[rank.rank], sum);
    }
  }
  bound.iterations = usual.size();
  bound.ranks = ranks.size();
  PutParts(sum, static_cast<double>(samples), bound);
  return bound;
}

}  // namespace fathom::diagnosis
