#include "diagnosis/slowness/judge/judge_work.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/evidence/work_growth.h"
#include "diagnosis/graph/pipelines.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/slowness/judge/slow_verdict.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

// How many times as long it works. What waits for a core waits for all that runs on the node, and
// grows on a full machine whatever the rank was asked to do.
double Longer(const OwnTime& own) {
  return own.working_before > 0 ? own.working_now / own.working_before : own.now / own.before;
}

bool Explains(const Case& c, const Ledger& ledger, RankId rank, const WorkGrowth& work) {
  const OwnTime own = OwnTimeOf(c, rank);
  // What did not grow explains nothing, nor is there anything to explain where no time was lost.
  const double excess = own.now - own.before;
  const bool grew = own.before > 0 && excess > 0 && !work.what.empty();
  if (!grew || excess < c.config.explains_share * ledger.excess) return false;
  // With its earlier work it would take less today by so much, its waits for cores included.
  const double spared = own.now * (1 - 1 / work.times);
  return spared >= c.config.mostly_share * excess &&
         work.times - 1 >= c.config.mostly_share * (Longer(own) - 1);
}

struct Workers {
  std::vector<RankId> loaded, others;  // sorted
};

Workers WorkersOf(const Case& c, const Ledger& ledger) {
  Workers workers;
  for (const auto& [rank, rows] : c.view.rows) {
    const auto work = WorkGrowthOf(c, rank);
    if (!work) continue;
    (Explains(c, ledger, rank, *work) ? workers.loaded : workers.others).push_back(rank);
  }
  return workers;
}

bool SpeakForAll(const Case& c, const std::vector<RankId>& ranks) {
  std::set<std::string> nodes;
  for (const RankId rank : ranks) nodes.insert(NodeOf(c.view, rank));
  nodes.erase("");
  return ranks.size() >= c.view.world_size ||
         nodes.size() > static_cast<std::size_t>(c.config.most_culprit_nodes);
}

void DescribeWork(const Case& c, const Ledger& ledger, RankId one, const std::string& who,
                  const std::string& whose, Verdict& verdict) {
  const WorkGrowth work = WorkGrowthOf(c, one).value_or(WorkGrowth{});
  const OwnTime own = OwnTimeOf(c, one);
  const double longer = Longer(own);
  verdict.posterior_odds = PosteriorOdds(c.config.prior_rank, ledger.iterations, ledger.iterations,
                                         c.config.chance_share(), c.config.guilty_share());
  verdict.sentence = absl::StrFormat(
      "More work is asked of %s than before %s: %.2f times the %s and %.2f times the time of %s "
      "own; an iteration takes %s instead of %s. That is no fault of a device.",
      who, SinceInWords(c.suspicion.onset), work.times, work.what, longer, whose,
      Duration(c.suspicion.measured.Seconds()), Duration(ledger.expected));
  verdict.evidence.push_back(
      {absl::StrCat("Growth of ", work.what, ", against that of its own time."), work.times, "x",
       longer, "communication_ops"});
  verdict.would_change.push_back(
      "The same time with no more launches, ops, elements of batches or bytes.");
  verdict.action_command = RanksCommand(c.view);
}

Verdict OfSome(const Case& c, const Ledger& ledger, Workers workers) {
  Verdict verdict = SlowVerdict(c, Cause::kImbalance, EntityType::kGroup);
  if (Pipelines(c.view).AreOneStage(workers.loaded)) verdict.entity.type = EntityType::kStage;
  DescribeWork(c, ledger, workers.loaded.front(), RanksInWords(workers.loaded),
               workers.loaded.size() == 1 ? "its" : "their", verdict);
  verdict.action_text =
      "Look at what these ranks are given: layers of the stage, lengths of sequences, tokens of "
      "experts.";
  verdict.entity.ranks = std::move(workers.loaded);
  verdict.victims = std::move(workers.others);
  return verdict;
}

// Others take longer too, for another reason: they are judged by themselves.
std::optional<Verdict> OfSomeCandidates(const Case& c, const Ledger& ledger, Workers workers,
                                        const Accounts& candidates) {
  const auto is_candidate = [&](RankId rank) { return Contains(candidates, rank); };
  const std::size_t known = workers.loaded.size() + workers.others.size();
  std::erase_if(workers.loaded, [&](RankId rank) { return !is_candidate(rank); });
  std::erase_if(workers.others, is_candidate);
  if (workers.loaded.empty() || 2 * workers.loaded.size() > known) return std::nullopt;
  return OfSome(c, ledger, std::move(workers));
}

Verdict OfAll(const Case& c, const Ledger& ledger, const Workers& workers) {
  Verdict verdict = SlowVerdict(c, Cause::kRegression, EntityType::kJob);
  verdict.owner = Owner::kAlgorithm;
  DescribeWork(c, ledger, workers.loaded[workers.loaded.size() / 2], "all ranks", "their", verdict);
  verdict.evidence.push_back({"Ranks of which more is asked, of those looked at.",
                              static_cast<double>(workers.loaded.size()), "ranks",
                              static_cast<double>(workers.loaded.size()), "communication_ops"});
  verdict.action_text =
      absl::StrCat("See what changed for all at iteration ", c.suspicion.onset.value,
                   ": length of sequences, batch size, code.");
  return verdict;
}

}  // namespace

std::optional<Verdict> JudgeWork(const Case& c, const Ledger& ledger, const Accounts& candidates) {
  Workers workers = WorkersOf(c, ledger);
  const auto loaded = [&](RankId rank) {
    return std::binary_search(workers.loaded.begin(), workers.loaded.end(), rank);
  };
  const bool all = std::all_of(candidates.begin(), candidates.end(),
                               [&](const auto* account) { return loaded(account->rank); });
  if (!all) return OfSomeCandidates(c, ledger, std::move(workers), candidates);
  if (workers.loaded.empty()) return std::nullopt;
  if (!workers.others.empty()) return OfSome(c, ledger, std::move(workers));
  if (!SpeakForAll(c, workers.loaded)) return std::nullopt;
  return OfAll(c, ledger, workers);
}

}  // namespace fathom::diagnosis
