#include "collector/recovery/recovery_plan.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "collector/cli/text/text.h"

namespace fathom::collector {
namespace {

using cli::Cat;

constexpr double kHour = 3600;

std::string Hours(double hours) { return absl::StrFormat("%.2f", hours); }

// Empty: it may stand in.
std::string WhyNoSpare(const SpareNode& node, const SickJob& job) {
  if (node.name == job.node) return "it is the sick one";
  if (!node.connected) return "its agent is not connected";
  if (node.ranks > 0) return "ranks run on it";
  if (node.held) return "it is held back";
  if (node.suspect) return "a verdict on it is open";
  if (node.repeat_offender) return "verdicts named it in several jobs";
  if (node.probe == "slow" || node.probe == "faulty") return Cat("its probe says ", node.probe);
  const bool known = !node.hardware.empty() && !job.hardware.empty();
  return known && node.hardware != job.hardware ? Cat("it is other hardware: ", node.hardware) : "";
}

// More is better.
int Fitness(const SpareNode& node, const SickJob& job) {
  const bool alike = !node.hardware.empty() && node.hardware == job.hardware;
  return (node.probe == "clean" ? 2 : 0) + (alike ? 1 : 0);
}

std::string WhyThisSpare(const SpareNode& node, const SickJob& job) {
  const bool alike = !node.hardware.empty() && node.hardware == job.hardware;
  return Cat(node.probe == "clean" ? "its probe is clean" : "it was not probed",
             alike ? ", the same hardware" : ", its hardware was not compared");
}

void ChooseSpare(const SickJob& job, const std::vector<SpareNode>& nodes, RecoveryPlan& plan) {
  const SpareNode* best = nullptr;
  for (const SpareNode& node : nodes) {
    const std::string why = WhyNoSpare(node, job);
    if (!why.empty()) {
      if (node.name != job.node) plan.not_spares.push_back(Cat(node.name, ": ", why));
      continue;
    }
    if (best == nullptr || Fitness(node, job) > Fitness(*best, job)) best = &node;
  }
  if (best == nullptr) {
    plan.missing.push_back("a spare: no node with an agent is free, well and of the same hardware");
    return;
  }
  plan.spare = best->name;
  plan.spare_because = WhyThisSpare(*best, job);
  if (best->probe != "clean") {
    plan.missing.push_back(Cat("a probe of the spare: fathom probe --nodes ", best->name));
  }
  plan.missing.push_back("the network's topology: whether the spare adds hops is not known here");
}

// Work that was done since the checkpoint and must be done anew, at healthy speed.
double WorkSince(const SickJob& job, std::int64_t from_ns, const RecoveryWish& wish) {
  const bool stood = job.stands_still && job.since_ns > from_ns;
  const std::int64_t until = stood ? job.since_ns : wish.now_ns;
  const double passed = 1e-9 * static_cast<double>(until - from_ns);
  return std::max(0.0, job.stands_still ? passed : passed / std::max(1.0, job.slowdown));
}

void ChooseCheckpoint(const SickJob& job, const std::vector<Checkpoint>& checkpoints,
                      const RecoveryWish& wish, RecoveryPlan& plan) {
  for (const Checkpoint& checkpoint : checkpoints) {
    if (checkpoint.torn.empty()) {
      plan.checkpoint = checkpoint;
      break;
    }
    plan.torn.push_back(Cat(checkpoint.path, ": ", checkpoint.torn));
  }
  if (plan.checkpoint) {
    plan.lost_work_s = WorkSince(job, plan.checkpoint->written_ns, wish);
    return;
  }
  const double each = job.usual_s > 0 ? job.usual_s : job.iteration_s;
  plan.lost_work_s = each * static_cast<double>(std::max<std::int64_t>(0, job.iteration + 1));
  plan.missing.push_back(wish.looked ? "a whole checkpoint (--checkpoints): all work since the "
                                       "start is counted as lost"
                                     : "the newest checkpoint (fathom recover plan --checkpoints): "
                                       "the work since it is lost too, at most all of it");
}

void CountCosts(const SickJob& job, const RecoveryWish& wish, RecoveryPlan& plan) {
  const double processes = job.processes;
  plan.restart_s = wish.restart_s;
  plan.restart_gpu_hours = processes * (wish.restart_s + plan.lost_work_s) / kHour;
  plan.carry_on_per_hour = processes * (job.stands_still ? 1 : std::max(0.0, job.slowdown - 1));
  plan.carry_on_gpu_hours = job.stands_still ? 0 : plan.carry_on_per_hour * wish.left_hours;
  const auto pays_from = [&](double restart_gpu_hours) {
    if (job.stands_still) return 0.0;
    return plan.carry_on_per_hour > 0
               ? RecoveryPlan::kMargin * restart_gpu_hours / plan.carry_on_per_hour
               : -1;
  };
  plan.pays_from_hours = pays_from(plan.restart_gpu_hours);
  plan.pays_at_best_hours = pays_from(processes * wish.restart_s / kHour);
  if (wish.restart_assumed) {
    plan.missing.push_back(Cat("how long a start takes (--restart-seconds): ",
                               absl::StrFormat("%.0f s", wish.restart_s), " is assumed"));
  }
}

// Why nothing can be advised whatever it costs; empty: something can.
std::string WhyNotAtAll(const SickJob& job, const RecoveryPlan& plan) {
  if (job.verdict.empty()) return "no verdict stands";
  if (job.proof == "refuted") return "a probe of the node speaks against the verdict";
  if (job.node.empty()) return Cat("the verdict names no node (", job.cause, ")");
  if (job.grade != "established" && job.proof != "confirmed") {
    return Cat("the verdict is not established (", job.grade, ") and no probe confirms it");
  }
  return plan.spare.empty() ? "there is no spare" : "";
}

// What somebody must say, or look for, before it can be told; empty: nothing.
std::string WhatIsOpen(const RecoveryWish& wish, const RecoveryPlan& plan) {
  const bool said = wish.left_hours > 0;
  if (wish.looked) {
    return said ? ""
                : Cat("it pays from ", Hours(plan.pays_from_hours),
                      " hours of work left on; say how many are (--left-hours)");
  }
  const bool surely = said && (wish.left_hours >= plan.pays_from_hours ||
                               wish.left_hours < plan.pays_at_best_hours);
  return surely ? ""
                : Cat("it pays from ", Hours(plan.pays_at_best_hours),
                      " hours of work left on with a checkpoint of just now, from ",
                      Hours(plan.pays_from_hours), " without any");
}

void Advise(const SickJob& job, const RecoveryWish& wish, RecoveryPlan& plan) {
  const char* most = wish.looked ? "" : "at most ";
  plan.why = WhyNotAtAll(job, plan);
  if (!plan.why.empty()) {
    plan.advice = "do not act";
  } else if (job.stands_still) {
    plan.advice = "act";
    plan.why = Cat("the job stands still: each hour costs ", Hours(plan.carry_on_per_hour),
                   " GPU-hours, the restart ", most, Hours(plan.restart_gpu_hours));
  } else if (plan.pays_from_hours < 0) {
    plan.advice = "do not act";
    plan.why = "the job loses nothing as it is";
  } else if (const std::string open = WhatIsOpen(wish, plan); !open.empty()) {
    plan.advice = "unknown";
    plan.why = open;
  } else {
    const bool pays = wish.left_hours >= plan.pays_from_hours;
    plan.advice = pays ? "act" : "do not act";
    plan.why = Cat("the restart costs ", most, Hours(plan.restart_gpu_hours),
                   " GPU-hours, carrying on ", Hours(plan.carry_on_gpu_hours), "; it pays from ",
                   Hours(pays || wish.looked ? plan.pays_from_hours : plan.pays_at_best_hours),
                   " hours of work left on");
  }
}

void WriteSteps(const SickJob& job, const RecoveryWish& wish, RecoveryPlan& plan) {
  if (plan.advice == "do not act" || plan.spare.empty()) return;
  plan.steps.push_back(
      Cat("fathom recover run ", job.name, " does it, where a back-end is configured; by hand:"));
  plan.steps.push_back(Cat("isolate ", job.node,
                           ": fathom action approve, or scontrol update NodeName=", job.node,
                           " State=DRAIN Reason=fathom, or kubectl cordon ", job.node));
  if (job.proof.empty()) {
    plan.steps.push_back(
        Cat("confirm it once it is free: fathom probe --nodes ", job.node, ",", plan.spare));
  }
  plan.steps.push_back(Cat("torchrun, elastic: start the job's own torchrun command on ",
                           plan.spare,
                           " with the same --rdzv-id and --rdzv-endpoint, then end the one on ",
                           job.node, "; the rendezvous restarts the workers"));
  plan.steps.push_back(plan.checkpoint ? Cat("the workers load ", plan.checkpoint->path)
                                       : std::string(wish.looked ? "the workers begin anew"
                                                                 : "the workers load their newest "
                                                                   "checkpoint, or begin anew"));
}

}  // namespace

RecoveryPlan PlanRecovery(const SickJob& job, const std::vector<SpareNode>& nodes,
                          const std::vector<Checkpoint>& checkpoints, const RecoveryWish& wish) {
  RecoveryPlan plan;
  plan.isolate = job.node;
  ChooseSpare(job, nodes, plan);
  ChooseCheckpoint(job, checkpoints, wish, plan);
  CountCosts(job, wish, plan);
  Advise(job, wish, plan);
  WriteSteps(job, wish, plan);
  return plan;
}

}  // namespace fathom::collector
