#include "diagnosis/slowness/rules/imbalance.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/graph/message_groups.h"
#include "diagnosis/graph/pipelines.h"
#include "diagnosis/peers/peers.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

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
      loads[r.rank].own.push_back(StageWorkOf(r).Seconds());
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

bool AlwaysLonger(const std::map<RankId, Load>& loads, RankId rank, const DiagnosisConfig& config) {
  const Load& load = loads.at(rank);
  std::size_t shows = 0;
  for (std::size_t i = 0; i < load.own.size(); ++i) {
    if (load.own[i] >= config.peer_contrast * MedianOfOthers(loads, rank, i)) ++shows;
  }
  return static_cast<double>(shows) >= config.guilty_share() * static_cast<double>(load.own.size());
}

// A recording of few iterations still gives a lead.
std::int32_t FewestIterations(const DiagnosisConfig& config) {
  return config.recorded ? std::min<std::int32_t>(kFewestForMedian, config.imbalance_iterations())
                         : config.imbalance_iterations();
}

std::vector<RankId> AlwaysLongest(const Case& c, const std::map<RankId, Load>& loads) {
  std::vector<RankId> heavy;
  for (const auto& [rank, load] : loads) {
    if (load.own.size() < static_cast<std::size_t>(FewestIterations(c.config))) continue;
    if (AlwaysLonger(loads, rank, c.config)) heavy.push_back(rank);
  }
  return heavy;
}

std::vector<RankId> OthersThan(const std::vector<RankId>& heavy,
                               const std::map<RankId, Load>& loads) {
  std::vector<RankId> others;
  for (const auto& [rank, load] : loads) {
    if (std::find(heavy.begin(), heavy.end(), rank) == heavy.end()) others.push_back(rank);
  }
  return others;
}

bool AllWait(const std::map<RankId, Load>& loads, const std::vector<RankId>& ranks, double share) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](RankId rank) { return Median(loads.at(rank).blocked) >= share; });
}

double MedianOwn(const std::map<RankId, Load>& loads, const std::vector<RankId>& ranks) {
  std::vector<double> own;
  for (const RankId rank : ranks) own.push_back(Median(loads.at(rank).own));
  return Median(std::move(own));
}

// A stage has no peers that do the same: of a short recording, too, each third must tell a median.
Grade GradeOf(const std::map<RankId, Load>& loads, const std::vector<RankId>& stage,
              const DiagnosisConfig& config) {
  const std::size_t least =
      std::max(static_cast<std::size_t>(config.imbalance_iterations()), 3 * kFewestForMedian);
  const bool few = std::any_of(stage.begin(), stage.end(),
                               [&](RankId rank) { return loads.at(rank).own.size() < least; });
  return few ? Grade::kHypothesis : Grade::kSupported;
}

std::string Sentence(const std::vector<RankId>& stage, double own, double usual) {
  const bool alone = stage.size() == 1;
  return absl::StrFormat(
      "The stage on %s has %.1f times the work of the others in every iteration, from the start%s: "
      "%s against %s. %s",
      RanksInWords(stage), own / usual, alone ? "" : " and in every replica", Duration(own),
      Duration(usual),
      alone ? "That is how the model is cut; or its device was slow before the first of them."
            : "That is how the model is cut, not a fault of a device.");
}

Verdict Name(const Case& c, const std::map<RankId, Load>& loads, const std::vector<RankId>& stage,
             std::vector<RankId> others) {
  const double own = MedianOwn(loads, stage);
  const double usual = MedianOwn(loads, others);
  const auto heavy = static_cast<double>(stage.size());
  const auto light = static_cast<double>(others.size());
  Verdict verdict;
  verdict.cause = Cause::kImbalance;
  verdict.grade = GradeOf(loads, stage, c.config);
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.entity.type = EntityType::kStage;
  verdict.entity.ranks = stage;
  verdict.victims = std::move(others);
  verdict.since_iteration = c.view.window.front().index;
  verdict.since_time = c.view.window.front().begin;
  const double mean = (heavy * own + light * usual) / (heavy + light);
  verdict.cost = CostOfSteps(c.view, c.view.window.size(), own, mean);
  verdict.sentence = Sentence(stage, own, usual);
  verdict.evidence.push_back(
      {"Time of its own in an iteration, against its peers'.", own, "s", usual, "iterations"});
  verdict.counter_evidence.push_back({"Iterations that were slower than the job's usual.",
                                      static_cast<double>(c.suspicion.irregular.size()),
                                      "iterations", static_cast<double>(c.view.window.size()),
                                      "iterations"});
  verdict.would_change.push_back(
      "A time before in which this stage took no longer than its peers.");
  verdict.action_text = "Move layers from this stage to the others, or give it fewer.";
  verdict.action_command = RanksCommand(c.view);
  return verdict;
}

void Examine(const Case& c, Findings& out) {
  if (!CarriesMessages(c.view)) return;
  const std::map<RankId, Load> loads = LoadsOf(c.view);
  const std::vector<RankId> heavy = AlwaysLongest(c, loads);
  std::vector<RankId> others = OthersThan(heavy, loads);
  if (heavy.empty() || others.empty() || !AllWait(loads, others, c.config.explains_share)) {
    return;
  }
  if (!Pipelines(c.view).AreOneStage(heavy)) return;
  out.verdicts.push_back(Name(c, loads, heavy, std::move(others)));
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
