#include "diagnosis/slowness/rules/rare_spikes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/peers/account_limits.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/watch/spikes.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr char kSource[] = "iteration_summaries";

// Medians over its spikes; seconds.
struct Middle {
  double own = 0, lost = 0, compute = 0, gc = 0, dataloader = 0;
};

Middle MiddleOf(const std::vector<const Spike*>& spikes) {
  const auto median = [&](Nanos Spike::*part) {
    std::vector<double> values;
    for (const Spike* spike : spikes) values.push_back((spike->*part).Seconds());
    return Median(std::move(values));
  };
  return {median(&Spike::own), median(&Spike::lost), median(&Spike::compute), median(&Spike::gc),
          median(&Spike::dataloader)};
}

bool CpuTimesAreKnown(const JobView& view, RankId rank) {
  return std::any_of(view.window.begin(), view.window.end(), [&](const IterationSummary& it) {
    const RankIteration* mine = RankIn(it, rank);
    return mine != nullptr && (mine->cpu.count > 0 || mine->device.count > 0);
  });
}

Cause CauseOfMiddle(const JobView& view, RankId rank, const Middle& middle) {
  const double least = AccountLimits().mostly * middle.own;
  if (middle.gc >= least) return Cause::kGc;
  if (middle.dataloader >= least) return Cause::kDataLoader;
  if (middle.compute >= least) return Cause::kComputeSlow;
  return CpuTimesAreKnown(view, rank) ? Cause::kHostSlow : Cause::kUnknown;
}

Grade GradeOfSpikes(const SpikeCulprit& culprit, Cause cause) {
  if (cause == Cause::kUnknown) return Grade::kHypothesis;
  const bool sure = culprit.chance <= AccountLimits().chance_live;
  return sure || culprit.own.size() == culprit.all ? Grade::kEstablished : Grade::kSupported;
}

Cost CostOfSpikes(const JobView& view, const SpikeCulprit& culprit) {
  Cost cost;
  cost.slowdown = 1 / std::max(1 - culprit.share, 1e-9);
  cost.seconds_per_iteration = culprit.lost_s / static_cast<double>(culprit.iterations);
  cost.gpu_hours = culprit.lost_s * static_cast<double>(view.window.back().ranks.size()) / 3600;
  return cost;
}

void Describe(const Case& c, const SpikeCulprit& culprit, const Middle& middle, Verdict& verdict) {
  const double usual = c.suspicion.expected.Seconds();
  const auto spikes = static_cast<double>(culprit.own.size());
  const auto all = static_cast<double>(culprit.all);
  verdict.sentence = absl::StrFormat(
      "%s makes single iterations long again and again, %s: %d so far, one in %.0f (%s instead of "
      "%s), each by %s more %s; they take %.0f %% of the job's time.",
      RankName(c.view, culprit.rank), SinceInWords(verdict.since_iteration), culprit.own.size(),
      static_cast<double>(culprit.iterations) / spikes, Duration(usual + middle.lost),
      Duration(usual), Duration(middle.own), CauseInWords(verdict.cause), 100 * culprit.share);
  verdict.evidence.push_back(
      {"Iterations as long as these by this rank's own time, of all that are remembered.", spikes,
       "iterations", all, kSource});
  verdict.evidence.push_back(
      {"Its own time in such an iteration beyond the usual, against what "
       "the iteration lost.",
       middle.own, "s", middle.lost, kSource});
  verdict.counter_evidence.push_back(
      {"Such iterations that were another rank's doing, or nobody's alone.", all - spikes,
       "iterations", all, kSource});
  verdict.would_change.push_back("A pattern in them: something that it does by design.");
}

}  // namespace

std::optional<Verdict> FindRareSpikes(const Case& c) {
  const auto culprit =
      WhoseSpikes(c.view, c.suspicion.spikes, c.suspicion.expected.Seconds(), c.config);
  if (!culprit) return std::nullopt;
  const Middle middle = MiddleOf(culprit->own);
  Verdict verdict;
  verdict.entity.ranks = {culprit->rank};
  verdict.entity.node = NodeOf(c.view, culprit->rank);
  verdict.cause = CauseOfMiddle(c.view, culprit->rank, middle);
  verdict.grade = GradeOfSpikes(*culprit, verdict.cause);
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.since_iteration = culprit->own.front()->index;
  verdict.since_time = culprit->own.front()->begin;
  verdict.cost = CostOfSpikes(c.view, *culprit);
  verdict.victims = RanksBeside(c.view, verdict.entity.ranks);
  Describe(c, *culprit, middle, verdict);
  AdviseOnRank(c.view, culprit->rank, verdict);
  return verdict;
}

}  // namespace fathom::diagnosis
