#include "diagnosis/rules/imbalance.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "diagnosis/evidence/phrase.h"
#include "diagnosis/graph/message_groups.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kShows = 0.9;    // of the iterations in which the stage must be the longest
constexpr double kHeldUp = 0.25;  // of an iteration that its peers wait, at least

struct Load {
  std::vector<double> own;      // not blocked, an entry an iteration
  std::vector<double> blocked;  // share of the iteration
};

std::map<RankId, Load> LoadsOf(const JobView& view) {
  std::map<RankId, Load> loads;
  for (const IterationSummary& it : view.window) {
    if (it.index.value <= 0) continue;
    for (const RankIteration& r : it.ranks) {
      if (r.duration.count <= 0) continue;
      // Work, not the wait for a core: a full machine must not pass for a design.
      const Nanos work = r.device.count > 0 ? r.device : r.cpu;
      const Nanos own = work.count > 0 ? work : r.duration - r.blocked - r.runqueue;
      loads[r.rank].own.push_back(own.Seconds());
      loads[r.rank].blocked.push_back(r.blocked.Seconds() / r.duration.Seconds());
    }
  }
  return loads;
}

double MedianOfOthers(const std::map<RankId, Load>& loads, RankId rank, std::size_t iteration) {
  std::vector<double> others;
  for (const auto& [other, load] : loads) {
    if (other != rank && iteration < load.own.size()) others.push_back(load.own[iteration]);
  }
  return Median(std::move(others));
}

bool AlwaysLonger(const std::map<RankId, Load>& loads, RankId rank, double ratio) {
  const Load& load = loads.at(rank);
  std::size_t shows = 0;
  for (std::size_t i = 0; i < load.own.size(); ++i) {
    if (load.own[i] >= ratio * MedianOfOthers(loads, rank, i)) ++shows;
  }
  return static_cast<double>(shows) >= kShows * static_cast<double>(load.own.size());
}

bool OthersWait(const std::map<RankId, Load>& loads, RankId rank) {
  return std::all_of(loads.begin(), loads.end(), [&](const auto& entry) {
    return entry.first == rank || Median(entry.second.blocked) >= kHeldUp;
  });
}

Verdict Name(const Case& c, const std::map<RankId, Load>& loads, RankId rank) {
  const double own = Median(loads.at(rank).own);
  std::vector<double> others;
  Verdict verdict;
  for (const auto& [other, load] : loads) {
    if (other == rank) continue;
    others.push_back(Median(load.own));
    verdict.victims.push_back(other);
  }
  const double usual = Median(others);
  const double mean =
      (own + usual * static_cast<double>(others.size())) / static_cast<double>(others.size() + 1);
  verdict.cause = Cause::kImbalance;
  verdict.grade = Grade::kSupported;
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.entity.type = EntityType::kStage;
  verdict.entity.ranks = {rank};
  verdict.since_iteration = c.view.window.front().index;
  verdict.since_time = c.view.window.front().begin;
  verdict.cost.slowdown = own / mean;
  verdict.cost.seconds_per_iteration = own - mean;
  verdict.cost.gpu_hours =
      (own - mean) * static_cast<double>(c.view.window.size()) * c.view.world_size / 3600;
  verdict.sentence = absl::StrFormat(
      "The stage on rank %d has %.1f times the work of the others in every iteration, from the "
      "start: %s against %s. That is how the model is cut, not a fault of a device.",
      rank.value, own / usual, Duration(own), Duration(usual));
  verdict.evidence.push_back(
      {"Time of its own in an iteration, against its peers'.", own, "s", usual, "iterations"});
  verdict.counter_evidence.push_back({"Iterations that were slower than the job's usual.",
                                      static_cast<double>(c.suspicion.irregular.size()),
                                      "iterations", static_cast<double>(c.view.window.size()),
                                      "iterations"});
  verdict.would_change.push_back(
      "A time before in which this stage took no longer than its peers.");
  verdict.action_text = "Move layers from this stage to the others, or give it fewer.";
  verdict.action_command = absl::StrFormat("fathom get ranks %s -o wide", c.view.name);
  return verdict;
}

void Examine(const Case& c, Findings& out) {
  if (!CarriesMessages(c.view)) return;
  const std::map<RankId, Load> loads = LoadsOf(c.view);
  for (const auto& [rank, load] : loads) {
    if (load.own.size() < static_cast<std::size_t>(c.config.imbalance_iterations)) continue;
    if (!AlwaysLonger(loads, rank, c.config.imbalance_ratio) || !OthersWait(loads, rank)) continue;
    out.verdicts.push_back(Name(c, loads, rank));
  }
}

}  // namespace

Rule ImbalanceRule() {
  return {"imbalance",
          {"communication_ops"},
          "whether work is unequal by design",
          [](const Suspicion& s) { return !s.slow && !s.stalled; },
          Examine};
}

}  // namespace fathom::diagnosis
