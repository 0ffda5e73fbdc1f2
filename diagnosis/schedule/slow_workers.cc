#include "diagnosis/schedule/slow_workers.h"

#include <algorithm>
#include <utility>

#include "diagnosis/evidence/cost.h"
#include "diagnosis/peers/account_limits.h"
#include "diagnosis/schedule/worker_load.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// From which step on a series stays above a level.
struct Stretch {
  std::size_t since = 0;
  std::size_t shows = 0;
  bool found = false;
};

class Finder {
 public:
  Finder(const Replay& replay, const DiagnosisConfig& config)
      : replay_(replay), config_(config), loads_(LoadsOf(replay.schedule(), replay.recorded())) {
    out_.repaired = replay.recorded();
  }

  SlowWorkers Run() {
    if (loads_.replicas < 2) return std::move(out_);
    for (std::size_t replica = 0; replica < loads_.replicas; ++replica) LookAt(replica);
    Price();
    return std::move(out_);
  }

 private:
  double Share(std::size_t count, std::size_t of) const {
    return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
  }

  // The longest stretch to the end that holds; before it the series must have been as others.
  Stretch FindStretch(const std::vector<double>& ratios) const {
    std::vector<std::size_t> above(ratios.size() + 1);
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      above[i + 1] = above[i] + (ratios[i] >= config_.slow_worker_ratio ? 1 : 0);
    }
    // A few steps at the end are above by chance more often than all of a short recording.
    const auto whole = static_cast<std::size_t>(std::max(1, config_.min_irregular));
    const auto tail = kEstablishedIterations;
    for (std::size_t since = 0; since < ratios.size(); ++since) {
      if (ratios.size() - since < (since == 0 ? whole : tail)) break;
      const std::size_t shows = above.back() - above[since];
      const bool begins = ratios[since] >= config_.slow_worker_ratio;
      const bool holds = Share(shows, ratios.size() - since) >= config_.consistent_share;
      const bool as_others =
          since == 0 || Share(since - above[since], since) >= config_.consistent_share;
      if (begins && holds && as_others) {
        return {since, shows, true};
      }
    }
    return {};
  }

  void LookAt(std::size_t replica) {
    std::vector<std::vector<double>> ratios;
    for (std::size_t stage = 0; stage < loads_.stages; ++stage) {
      ratios.push_back(AgainstPeers(loads_, replica, stage));
    }
    std::vector<double> of_replica(loads_.steps);
    for (std::size_t step = 0; step < loads_.steps; ++step) {
      std::vector<double> all;
      for (const auto& of_stage : ratios) all.push_back(of_stage[step]);
      of_replica[step] = Median(std::move(all));
    }
    if (loads_.stages > 1 && FindStretch(of_replica).found) out_.replicas.push_back(replica);
    for (std::size_t stage = 0; stage < loads_.stages; ++stage) {
      std::vector<double> own = ratios[stage];
      for (std::size_t step = 0; step < loads_.steps; ++step) {
        own[step] /= std::max(1.0, OfOtherStages(ratios, stage, step));
      }
      if (const Stretch found = FindStretch(own); found.found) Put(replica, stage, found, own);
    }
  }

  static double OfOtherStages(const std::vector<std::vector<double>>& ratios, std::size_t stage,
                              std::size_t step) {
    std::vector<double> others;
    for (std::size_t other = 0; other < ratios.size(); ++other) {
      if (other != stage) others.push_back(ratios[other][step]);
    }
    return others.empty() ? 1 : Median(std::move(others));
  }

  void Put(std::size_t replica, std::size_t stage, const Stretch& found,
           const std::vector<double>& own) {
    SlowWorker slow;
    slow.replica = replica;
    slow.stage = stage;
    slow.since = found.since;
    slow.shows = found.shows;
    slow.steps = own.size() - found.since;
    const auto first = own.begin() + static_cast<std::ptrdiff_t>(found.since);
    slow.ratio = Median(std::vector<double>(first, own.end()));
    std::vector<double> seconds;
    for (std::size_t step = found.since; step < loads_.steps; ++step) {
      seconds.push_back(loads_.at(replica, stage, step));
    }
    slow.seconds = Median(std::move(seconds));
    slow.peers = slow.seconds / slow.ratio;
    out_.workers.push_back(slow);
  }

  // Drops those whose slowness the pipeline hides.
  void Price() {
    const Schedule& schedule = replay_.schedule();
    for (const SlowWorker& slow : out_.workers) {
      RepairByPeers(schedule, slow.replica, slow.stage, out_.repaired);
    }
    if (out_.workers.empty()) return;
    const std::vector<double> all_repaired = replay_.StepTimes(out_.repaired);
    const std::vector<double> recorded = replay_.StepTimes(replay_.recorded());
    std::vector<SlowWorker> kept;
    for (SlowWorker slow : out_.workers) {
      const double all = Replay::MeanOf(all_repaired, slow.since);
      const Lengths without = replay_.Only(
          [&](const PlannedOp& op, std::size_t replica) {
            return replica == slow.replica && static_cast<std::size_t>(op.stage) == slow.stage;
          },
          out_.repaired);
      slow.step_s = Replay::MeanOf(recorded, slow.since);
      slow.repaired_s = slow.step_s - (replay_.MeanStep(without, slow.since) - all);
      const double part = (slow.step_s - slow.repaired_s) / std::max(1e-12, slow.step_s - all);
      const auto found = static_cast<double>(out_.workers.size());
      if (slow.step_s >= (1 + AccountLimits().least_cost) * all &&
          part >= config_.explains_share / found) {
        kept.push_back(slow);
      }
    }
    std::stable_sort(kept.begin(), kept.end(), [](const SlowWorker& a, const SlowWorker& b) {
      return a.step_s - a.repaired_s > b.step_s - b.repaired_s;
    });
    out_.workers = std::move(kept);
  }

  const Replay& replay_;
  const DiagnosisConfig& config_;
  const WorkerLoads loads_;
  SlowWorkers out_;
};

}  // namespace

SlowWorkers FindSlowWorkers(const Replay& replay, const DiagnosisConfig& config) {
  return Finder(replay, config).Run();
}

}  // namespace fathom::diagnosis
