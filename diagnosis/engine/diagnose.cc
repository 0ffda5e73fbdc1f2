#include "diagnosis/engine/diagnose.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "diagnosis/engine/registry.h"
#include "diagnosis/evidence/ledger.h"
#include "diagnosis/graph/execution_graph.h"
#include "diagnosis/ledger/account_verdicts.h"
#include "diagnosis/ledger/accounting.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/schedule/replay.h"
#include "diagnosis/schedule/what_if.h"
#include "diagnosis/slowness/judge/judge.h"
#include "diagnosis/slowness/judge/ranking.h"
#include "diagnosis/slowness/rules/hot_experts.h"
#include "diagnosis/slowness/rules/odd_path.h"
#include "diagnosis/slowness/rules/rare_spikes.h"

namespace fathom::diagnosis {
namespace {

// Iterations that are no baseline: the irregular ones.
std::set<Iteration> IrregularOf(const Suspicion& suspicion) {
  std::set<Iteration> out;
  for (const IrregularIteration& it : suspicion.irregular) out.insert(it.index);
  return out;
}

// Of the whole episode, without those that its rise is compared with.
std::set<Iteration> ExplainedOf(const Suspicion& whole) {
  std::set<Iteration> out = IrregularOf(whole);
  if (whole.rise.empty()) return out;
  const Suspicion& rise = whole.rise.front();
  for (Iteration iteration : rise.rows.iterations) {
    if (iteration < rise.onset) out.erase(iteration);
  }
  return out;
}

// Of the rise in it; what was before the episode is no measure of it.
std::set<Iteration> ExplainedOfRise(const Suspicion& whole) {
  std::set<Iteration> out = IrregularOf(whole.rise.front());
  for (Iteration iteration : whole.rows.iterations) {
    if (iteration < whole.rise.front().usual_from) out.insert(iteration);
  }
  return out;
}

// The first signal of a rule that is off; empty if none is. A signal nobody named is taken as on.
std::string MissingSignal(const JobView& view, const Rule& rule) {
  for (std::string_view wanted : rule.signals) {
    for (const SignalState& signal : view.signals) {
      if (signal.name == wanted && signal.level == SignalState::Level::kOff) return signal.name;
    }
  }
  return "";
}

void RunRules(const Case& c, Findings& findings) {
  for (const Rule& rule : AllRules()) {
    if (!rule.applies(c.suspicion)) continue;
    const std::string missing = MissingSignal(c.view, rule);
    if (missing.empty()) {
      rule.examine(c, findings);
    } else {
      findings.abstained.push_back({std::string(rule.question), missing});
    }
  }
}

bool Stronger(const Verdict& a, const Verdict& b) {
  if (a.grade != b.grade) return a.grade > b.grade;
  if (a.cost.seconds_per_iteration != b.cost.seconds_per_iteration) {
    return a.cost.seconds_per_iteration > b.cost.seconds_per_iteration;
  }
  return a.posterior_odds > b.posterior_odds;
}

// Of a stuck job the iterations before are of no more interest.
void DropSlownessWhenStuck(std::vector<Verdict>& verdicts) {
  if (std::none_of(verdicts.begin(), verdicts.end(), IsHang)) return;
  std::erase_if(verdicts, [](const Verdict& v) { return !IsHang(v); });
}

std::optional<Replay> ReplayOf(const JobView& view, Findings& findings) {
  if (view.schedule.empty()) return std::nullopt;
  std::string missing;
  auto replay = Replay::Of(view.schedule, missing);
  if (!replay) {
    findings.abstained.push_back({"what the job would take without its stragglers", missing});
  }
  return replay;
}

bool IsAbout(const Verdict& verdict, const RankedDevice& device) {
  if (device.ranks.empty()) return verdict.entity.ranks.empty();
  return std::any_of(device.ranks.begin(), device.ranks.end(),
                     [&](RankId rank) { return Contains(verdict.entity.ranks, rank); });
}

// Who would be the culprit if those that are convicted were not.
void AddRunnerUp(const std::vector<RankedDevice>& ranking, double least_odds,
                 std::vector<Verdict>& verdicts) {
  for (const RankedDevice& device : ranking) {
    if (device.posterior_odds < least_odds) return;
    const bool convicted = std::any_of(verdicts.begin(), verdicts.end(),
                                       [&](const Verdict& v) { return IsAbout(v, device); });
    if (convicted) continue;
    for (Verdict& verdict : verdicts) {
      verdict.counter_evidence.push_back(
          {absl::StrCat("Next in the ranking of suspects by posterior odds is ",
                        DeviceInWords(device)),
           device.posterior_odds, "to 1", verdict.posterior_odds, "ranking"});
    }
    return;
  }
}

// Rows are what evidence is gathered from; a schedule has rules of its own.
bool HasRows(const JobView& view) { return view.schedule.empty() || !view.rows.empty(); }

bool NamesSomebody(const Verdict& verdict) {
  return Convicts(verdict) && !IsHang(verdict) && verdict.entity.type != EntityType::kJob;
}

bool ShareARank(const Verdict& a, const Verdict& b) {
  return std::any_of(a.entity.ranks.begin(), a.entity.ranks.end(),
                     [&](RankId rank) { return Contains(b.entity.ranks, rank); });
}

// Whom the account of the iterations charges, where the job's own past convicts nobody. Of a live
// job that became slow its past is asked alone: that knows it better than few iterations do.
void AddAccount(const Case& c, Findings& findings, Diagnosis& out) {
  const bool untraced =
      std::any_of(c.view.signals.begin(), c.view.signals.end(), [](const auto& s) {
        return s.name == "communication_ops" && s.level == SignalState::Level::kOff;
      });
  if (c.suspicion.stalled || untraced || !c.view.schedule.empty() || c.view.rows.empty()) return;
  const std::optional<Accounting> accounting = AccountFor(c.view, c.graph, {}, c.topology);
  if (!accounting) return;
  out.account = accounting->account;
  if (c.suspicion.slow && !c.config.recorded) return;
  if (std::any_of(findings.verdicts.begin(), findings.verdicts.end(), Convicts)) return;
  for (Verdict& verdict : VerdictsOn(c.view, *accounting)) {
    std::erase_if(findings.verdicts,
                  [&](const Verdict& lead) { return ShareARank(lead, verdict); });
    findings.verdicts.push_back(std::move(verdict));
  }
  for (Abstention& each : AbstainedOn(*accounting)) findings.abstained.push_back(std::move(each));
}

// What neither the job's past nor rows of some iterations tell: a slow path holds all ranks up
// alike, and iterations that are rarely long, always by the same rank, are in no window together.
void AddHidden(const Case& c, Findings& findings) {
  if (c.suspicion.slow || c.suspicion.stalled) return;
  if (std::any_of(findings.verdicts.begin(), findings.verdicts.end(), Convicts)) return;
  std::optional<Verdict> verdict = FindOddPath(c.view, c.config);
  if (!verdict) verdict = FindRareSpikes(c);
  if (verdict) findings.verdicts.push_back(*std::move(verdict));
}

Diagnosis DiagnoseOne(const JobView& view, const Suspicion& suspicion,
                      const std::set<Iteration>& explained, const DiagnosisConfig& config,
                      const Topology* topology) {
  const ExecutionGraph graph(view, explained, suspicion.onset, config);
  Findings findings;
  const std::optional<Replay> replay = ReplayOf(view, findings);
  const Case c{view, suspicion, graph, config, replay ? &*replay : nullptr, topology};
  RunRules(c, findings);
  Diagnosis out;
  if (suspicion.slow && HasRows(view)) {
    const Ledger ledger = GatherEvidence(c, findings);
    JudgeSlowness(c, ledger, findings);
    SpareLoadedRanks(findings.verdicts, config);
    out.undecided = EnoughIterations(c, ledger) &&
                    std::none_of(findings.verdicts.begin(), findings.verdicts.end(), Convicts);
    AddRunnerUp(RankDevices(view, ledger, config), config.supported_odds, findings.verdicts);
  }
  SpareLoadedRanks(findings.verdicts, config);
  out.named = std::any_of(findings.verdicts.begin(), findings.verdicts.end(),
                          [](const Verdict& verdict) { return NamesSomebody(verdict); });
  AddAccount(c, findings, out);
  AddHidden(c, findings);
  DropSlownessWhenStuck(findings.verdicts);
  std::stable_sort(findings.verdicts.begin(), findings.verdicts.end(), Stronger);
  out.verdicts = std::move(findings.verdicts);
  out.abstained = std::move(findings.abstained);
  out.held_back = std::move(findings.held_back);
  out.irregular = suspicion.irregular;
  if (replay) out.what_if = WhatIfOf(view.schedule, *replay);
  out.iterations = std::max(view.iterations_seen, static_cast<std::int64_t>(view.window.size()));
  out.median_iteration = suspicion.expected;
  const double expected = suspicion.expected.Seconds();
  if (expected > 0) out.slowdown = suspicion.measured.Seconds() / expected;
  return out;
}

bool SharesARank(const Verdict& a, const std::vector<Verdict>& others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const Verdict& b) { return ShareARank(a, b); });
}

// Who caused the rise is known: what is said of the whole stays as far as it is about others.
void AddRise(Diagnosis rise, Diagnosis& out) {
  std::erase_if(out.verdicts, [&](const Verdict& verdict) {
    const bool of_all = verdict.entity.type == EntityType::kJob;
    return !of_all && (!Convicts(verdict) || SharesARank(verdict, rise.verdicts));
  });
  std::erase_if(rise.verdicts, [](const Verdict& verdict) { return !NamesSomebody(verdict); });
  for (Verdict& verdict : rise.verdicts) out.verdicts.push_back(std::move(verdict));
  std::stable_sort(out.verdicts.begin(), out.verdicts.end(), Stronger);
  out.abstained = std::move(rise.abstained);
  out.undecided = false;
}

void NameGpu(const JobView& view, Verdict& verdict) {
  Entity& entity = verdict.entity;
  const bool of_rank = entity.type == EntityType::kRank || entity.type == EntityType::kGpu;
  if (of_rank && entity.ranks.size() == 1) entity.gpu = GpuOf(view, entity.ranks.front());
}

Diagnosis Named(const JobView& view, Diagnosis diagnosis) {
  for (Verdict& verdict : diagnosis.verdicts) NameGpu(view, verdict);
  return diagnosis;
}

}  // namespace

Diagnosis Diagnose(const JobView& view, const Suspicion& suspicion, const DiagnosisConfig& config) {
  return DiagnoseWired(view, suspicion, config, nullptr);
}

Diagnosis DiagnoseWired(const JobView& view, const Suspicion& suspicion,
                        const DiagnosisConfig& config, const Topology* topology) {
  Diagnosis out = DiagnoseOne(view, suspicion, ExplainedOf(suspicion), config, topology);
  if (suspicion.rise.empty()) return Named(view, std::move(out));
  const Suspicion& rise = suspicion.rise.front();
  Diagnosis of_rise = DiagnoseOne(view, rise, ExplainedOfRise(suspicion), config, topology);
  out.named = false;  // of the whole; its rise is watched by itself
  if (of_rise.named) AddRise(std::move(of_rise), out);
  return Named(view, std::move(out));
}

void Remember(const Diagnosis& diagnosis, Episode& episode) {
  episode.wide |= diagnosis.undecided;
  episode.named |= diagnosis.named;
}

}  // namespace fathom::diagnosis
