#include "diagnosis/schedule/unequal_work.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/schedule/micro_batches.h"
#include "diagnosis/schedule/replay.h"
#include "diagnosis/schedule/slow_workers.h"
#include "diagnosis/schedule/worker_load.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

using Stages = std::vector<std::size_t>;

bool Holds(const Stages& stages, std::size_t stage) {
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

double MedianLoad(const WorkerLoads& loads, std::size_t stage) {
  std::vector<double> all;
  for (std::size_t replica = 0; replica < loads.replicas; ++replica) {
    for (std::size_t step = 0; step < loads.steps; ++step) {
      all.push_back(loads.at(replica, stage, step));
    }
  }
  return Median(std::move(all));
}

// Median over the stages that are not among `heavy`.
double UsualLoad(const WorkerLoads& loads, const Stages& heavy) {
  std::vector<double> usual;
  for (std::size_t stage = 0; stage < loads.stages; ++stage) {
    if (!Holds(heavy, stage)) usual.push_back(MedianLoad(loads, stage));
  }
  return Median(std::move(usual));
}

// In nearly every step each replica's stage computes longer than its other stages usually do.
bool AlwaysHeavier(const WorkerLoads& loads, std::size_t stage, const Stages& heavy,
                   const DiagnosisConfig& config) {
  std::size_t shows = 0;
  for (std::size_t replica = 0; replica < loads.replicas; ++replica) {
    for (std::size_t step = 0; step < loads.steps; ++step) {
      std::vector<double> usual;
      for (std::size_t other = 0; other < loads.stages; ++other) {
        if (!Holds(heavy, other)) usual.push_back(loads.at(replica, other, step));
      }
      if (loads.at(replica, stage, step) >= config.slow_worker_ratio * Median(std::move(usual))) {
        ++shows;
      }
    }
  }
  return static_cast<double>(shows) >=
         config.guilty_share() * static_cast<double>(loads.replicas * loads.steps);
}

struct HeavyStages {
  Stages stages;  // empty: none explains the job
  double share = 0;
};

HeavyStages FindHeavyStages(const Case& c, const Lengths& base, const WorkerLoads& loads,
                            double base_s, double ideal_s) {
  Stages by_load;
  for (std::size_t stage = 0; stage < loads.stages; ++stage) by_load.push_back(stage);
  std::stable_sort(by_load.begin(), by_load.end(), [&](std::size_t a, std::size_t b) {
    return MedianLoad(loads, a) > MedianLoad(loads, b);
  });
  HeavyStages found;
  for (std::size_t count = 1; 2 * count <= loads.stages; ++count) {
    found.stages.push_back(by_load[count - 1]);
    const Lengths repaired = c.replay->Mixed(
        [&](const PlannedOp& op, std::size_t) {
          return Holds(found.stages, static_cast<std::size_t>(op.stage));
        },
        c.replay->ideal(), base);
    found.share = (base_s - c.replay->MeanStep(repaired)) / (base_s - ideal_s);
    if (found.share >= c.config.mostly_share) break;
  }
  const bool heavier = std::all_of(
      found.stages.begin(), found.stages.end(),
      [&](std::size_t stage) { return AlwaysHeavier(loads, stage, found.stages, c.config); });
  if (found.share < c.config.mostly_share || !heavier) found.stages.clear();
  return found;
}

// Every stage with the mean load of all: what an even cut would give.
Lengths EvenlyCut(const Schedule& schedule, const WorkerLoads& loads, const Lengths& base) {
  double mean = 0;
  std::vector<double> load;
  for (std::size_t stage = 0; stage < loads.stages; ++stage) {
    load.push_back(MedianLoad(loads, stage));
    mean += load.back() / static_cast<double>(loads.stages);
  }
  Lengths out = base;
  const std::size_t lanes = schedule.lanes();
  for (std::size_t op = 0; op < schedule.ops.size(); ++op) {
    const double own = load[static_cast<std::size_t>(schedule.ops[op].stage)];
    if (!IsCompute(schedule.ops[op].kind) || own <= 0) continue;
    for (std::size_t lane = 0; lane < lanes; ++lane) out[op * lanes + lane] *= mean / own;
  }
  return out;
}

Verdict OfDesign(const Case& c, EntityType type, double base_s, double repaired_s) {
  const Schedule& schedule = c.replay->schedule();
  Verdict verdict;
  verdict.cause = Cause::kImbalance;
  verdict.grade = Grade::kSupported;
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.entity.type = type;
  verdict.since_iteration = Iteration(schedule.steps.front());
  verdict.cost = CostOfSteps(c.view, schedule.steps.size(), base_s, repaired_s);
  verdict.action_command = RanksCommand(c.view);
  return verdict;
}

Verdict NameStages(const Case& c, const HeavyStages& heavy, const WorkerLoads& loads,
                   const Lengths& base, double base_s) {
  const double even_s = c.replay->MeanStep(EvenlyCut(c.replay->schedule(), loads, base));
  Verdict verdict = OfDesign(c, EntityType::kStage, base_s, std::min(base_s, even_s));
  for (const Worker& worker : c.view.schedule.workers) {
    const bool is_heavy = Holds(heavy.stages, static_cast<std::size_t>(worker.stage));
    (is_heavy ? verdict.entity.ranks : verdict.victims).push_back(worker.rank);
  }
  const double own = MedianLoad(loads, heavy.stages.front());
  const double usual = UsualLoad(loads, heavy.stages);
  const bool one = heavy.stages.size() == 1;
  verdict.sentence = absl::StrFormat(
      "Stage%s %s of the pipeline (of %d) compute%s %.2f times as long as the others in every "
      "replica, from the first step on: %s against %s a step. That is how the model is cut, not a "
      "fault of a device.",
      one ? "" : "s", absl::StrJoin(heavy.stages, " and "), loads.stages, one ? "s" : "",
      own / usual, Duration(own), Duration(usual));
  verdict.evidence.push_back({"Computing of the stage in a step, against the other stages'.", own,
                              "s", usual, "schedule"});
  verdict.evidence.push_back(
      {absl::StrCat(
           "Of what stragglers cost, giving its ops the usual length wins back",
           heavy.share > 1 ? " (above 100 %: the other stages take less than usual)." : "."),
       100 * heavy.share, "%", 100 * c.config.mostly_share, "what_if"});
  verdict.evidence.push_back({"Step time of the replay, against one with the stages cut evenly.",
                              base_s, "s", even_s, "what_if"});
  verdict.evidence.push_back({"Replicas in which it is so.", static_cast<double>(loads.replicas),
                              "replicas", static_cast<double>(loads.replicas), "schedule"});
  verdict.would_change.push_back(
      "A replica, or an earlier time, in which this stage took no longer than its peers.");
  verdict.action_text = "Move layers from this stage to the others, or give it fewer.";
  return verdict;
}

Verdict NameLengths(const Case& c, double correlation, double base_s, double level_s) {
  Verdict verdict = OfDesign(c, EntityType::kJob, base_s, level_s);
  verdict.sentence = absl::StrFormat(
      "Micro-batches of one step need unequal time on all workers alike, forward and backward "
      "together, as sequences of unequal length do: a step takes %s, levelled it would take %s. "
      "That is the data, not a fault of a device.",
      Duration(base_s), Duration(level_s));
  verdict.evidence.push_back({"Correlation of forward with backward computing of a micro-batch.",
                              correlation, "", c.config.length_correlation, "schedule"});
  verdict.evidence.push_back(
      {"Step time of the replay, against one with the computing of each step levelled.", base_s,
       "s", level_s, "what_if"});
  verdict.would_change.push_back("Sequences of equal length that still differ in time.");
  verdict.action_text =
      "Balance micro-batches by the sum of squared sequence lengths, across replicas too.";
  return verdict;
}

void Examine(const Case& c, Findings& out) {
  if (c.replay == nullptr) return;
  const Schedule& schedule = c.replay->schedule();
  const Lengths base = FindSlowWorkers(*c.replay, c.config).repaired;
  const double base_s = c.replay->MeanStep(base);
  const double ideal_s = c.replay->MeanStep(c.replay->ideal());
  if (ideal_s <= 0 || base_s < c.config.slow_worker_ratio * ideal_s) return;
  const WorkerLoads loads = LoadsOf(schedule, base);
  if (loads.stages > 1 &&
      schedule.steps.size() >= static_cast<std::size_t>(std::max(1, c.config.min_irregular))) {
    const HeavyStages heavy = FindHeavyStages(c, base, loads, base_s, ideal_s);
    if (!heavy.stages.empty()) {
      out.verdicts.push_back(NameStages(c, heavy, loads, base, base_s));
    }
  }
  const Lengths level = Levelled(schedule, base);
  const double level_s = c.replay->MeanStep(level);
  const auto correlation = CorrelationOfLengths(schedule, base, level, c.config.sure_chance());
  if (correlation && *correlation >= c.config.length_correlation &&
      base_s >= c.config.delta * level_s) {
    out.verdicts.push_back(NameLengths(c, *correlation, base_s, level_s));
  }
}

}  // namespace

Rule UnequalWorkRule() {
  return {"unequal_work",
          {"schedule"},
          "whether work is unequal by design or by its data",
          [](const Suspicion& s) { return !s.stalled; },
          Examine};
}

}  // namespace fathom::diagnosis
