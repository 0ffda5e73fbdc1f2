#include "diagnosis/slowness/judge/judge.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/slowness/judge/common_cause.h"
#include "diagnosis/slowness/judge/judge_alike.h"
#include "diagnosis/slowness/judge/judge_groups.h"
#include "diagnosis/slowness/judge/judge_work.h"
#include "diagnosis/slowness/judge/slow_verdict.h"
#include "diagnosis/slowness/judge/unnamed_waits.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

double Ratio(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Shows often enough, in iterations enough.
bool Consistent(const Case& c, const Ledger& ledger, const RankAccount& account) {
  return 2 * account.judged >= ledger.iterations &&
         Ratio(account.shows, account.judged) >= c.config.consistent_share;
}

// Consistent ranks, without those whose excess is small beside the largest and decides nothing.
Accounts Candidates(const Case& c, const Ledger& ledger) {
  double largest = 0;
  for (const RankAccount& account : ledger.ranks) {
    if (Consistent(c, ledger, account)) largest = std::max(largest, account.typical.total);
  }
  Accounts out;
  for (const RankAccount& account : ledger.ranks) {
    const bool strong = account.typical.total * c.config.peer_contrast >= largest;
    const bool decides = account.path_typical >= c.config.explains_share * ledger.excess;
    if (Consistent(c, ledger, account) && (strong || decides)) out.push_back(&account);
  }
  return out;
}

// Too little of it is its own doing to explain the slow iterations: it waits for cores, and others
// on its node are the reason.
bool MostlyHeldBack(const Case& c, const RankAccount& account) {
  if (WaitsForCores(account.typical, c.config)) return true;
  if (account.typical.total <= 0) return false;
  const double own = AnswerableFor(account.typical, c.config) / account.typical.total;
  const auto shows = std::count_if(account.share.begin(), account.share.end(), [&](double share) {
    return own * share >= c.config.explains_share;
  });
  return Ratio(static_cast<std::size_t>(shows), account.judged) < c.config.consistent_share;
}

// What it is answerable for stands out from that of every rank that is not a candidate.
bool StandsOut(const Case& c, const Ledger& ledger, const RankAccount& account,
               const Accounts& candidates) {
  const double own = AnswerableFor(account.typical, c.config);
  for (const RankAccount& other : ledger.ranks) {
    if (Contains(candidates, other.rank)) continue;
    if (own < c.config.peer_contrast * AnswerableFor(other.typical, c.config)) return false;
  }
  return true;
}

double OddsOf(const Case& c, const Ledger& ledger, const RankAccount& account) {
  const double chance = ChanceToShow(ledger, account, c.config);
  return PosteriorOdds(c.config.prior_rank, account.shows, account.judged, chance,
                       c.config.guilty_share());
}

std::vector<RankId> VictimsOf(const Case& c, const Ledger& ledger, const Accounts& culprits) {
  std::vector<RankId> victims;
  for (const RankAccount& account : ledger.ranks) {
    if (Contains(culprits, account.rank)) continue;
    if (account.held_up >= c.config.explains_share * ledger.excess) victims.push_back(account.rank);
  }
  return victims;
}

Grade GradeOf(const Case& c, const Ledger& ledger, const RankAccount& account, double odds,
              double explained, Cause cause) {
  const bool enough = account.judged >= kEstablishedIterations;
  const bool waited = account.waited_for >= c.config.explains_share * ledger.excess;
  const bool on_chain = account.path_typical >= c.config.explains_share * ledger.excess;
  if (enough && waited && on_chain && odds >= c.config.established_odds() &&
      explained >= c.config.mostly_share && cause != Cause::kUnknown) {
    return Grade::kEstablished;
  }
  // A second culprit that is always ready a little before the first is never waited for.
  const bool large =
      AnswerableFor(account.typical, c.config) >= c.config.mostly_share * ledger.excess;
  if (odds >= c.config.supported_odds && (waited || on_chain || large)) return Grade::kSupported;
  return Grade::kHypothesis;
}

Verdict ConvictRank(const Case& c, const Ledger& ledger, const RankAccount& account,
                    const Accounts& culprits, double explained) {
  double all = 0;
  for (const RankAccount* culprit : culprits) all += std::max(0.0, culprit->typical.total);
  const double share = all > 0 ? std::max(0.0, account.typical.total) / all : 1;
  const Suspicion own = account.onset ? Since(*account.onset, c.suspicion) : c.suspicion;
  const Case since{c.view, own, c.graph, c.config, c.replay};
  Verdict verdict =
      SlowVerdict(since, CauseOf(account.typical, c.config), EntityType::kRank, share);
  verdict.posterior_odds = OddsOf(c, ledger, account);
  verdict.grade = GradeOf(c, ledger, account, verdict.posterior_odds, explained, verdict.cause);
  verdict.entity.ranks = {account.rank};
  if (const RankFacts* facts = FactsOf(c.view, account.rank)) verdict.entity.node = facts->node;
  verdict.victims = VictimsOf(c, ledger, culprits);
  DescribeSlowRank(since, ledger, account, verdict);
  AdviseOnRank(c.view, account.rank, verdict);
  return verdict;
}

Verdict ConvictHost(const Case& c, const Ledger& ledger, const std::string& node,
                    const Accounts& ranks) {
  Verdict verdict = SlowVerdict(c, Cause::kHostSlow, EntityType::kHost);
  verdict.owner = Owner::kOperations;
  verdict.entity.node = node;
  verdict.entity.ranks = RanksOf(ranks);
  verdict.victims = VictimsOf(c, ledger, ranks);
  verdict.posterior_odds =
      PosteriorOdds(c.config.prior_shared(), ledger.iterations, ledger.iterations,
                    c.config.chance_share(), c.config.guilty_share());
  verdict.sentence = absl::StrFormat(
      "Node %s very likely holds the job back %s: all of its ranks (%s) take "
      "longer than before and those of other nodes do not; an iteration takes %s instead of %s.",
      node, SinceInWords(c.suspicion.onset), RankList(verdict.entity.ranks),
      Duration(c.suspicion.measured.Seconds()), Duration(ledger.expected));
  for (const RankAccount* account : ranks) {
    verdict.evidence.push_back(
        {absl::StrFormat("Own time beyond the usual of rank %d.", account->rank.value),
         account->typical.total, "s", ledger.excess, "walk_back"});
  }
  verdict.would_change.push_back("The same excess on ranks of another node.");
  verdict.action_text = absl::StrCat("See what else runs on ", node, " and takes its cores.");
  verdict.action_command = "top -b -n 1 | head -20; cat /proc/pressure/cpu";
  return verdict;
}

constexpr char kQuestion[] = "who holds the job back";

void Abstain(Findings& findings, std::string missing) {
  findings.abstained.push_back({kQuestion, std::move(missing)});
}

// Where all that are known only wait, the one they wait for may be of those that are not.
std::string NobodyTakesLonger(const Case& c, const Ledger& ledger) {
  std::set<RankId> known;
  for (const RankAccount& account : ledger.ranks) known.insert(account.rank);
  std::vector<RankId> unknown;
  for (std::uint32_t rank = 0; rank < c.view.world_size; ++rank) {
    if (!known.contains(RankId(rank))) unknown.emplace_back(rank);
  }
  if (unknown.empty() || ledger.ranks.empty()) {
    return "a rank or group that takes longer in most slow iterations";
  }
  return absl::StrCat("the ops of ", RanksInWords(unknown),
                      ": none of the other ranks takes longer by itself in most slow iterations");
}

bool EnoughToJudge(const Case& c, const Ledger& ledger, Findings& findings) {
  if (!EnoughIterations(c, ledger)) {
    Abstain(findings, absl::StrFormat("ops of more slow iterations: %d of %d are here",
                                      ledger.iterations, c.config.min_irregular));
    return false;
  }
  return ledger.baseline_iterations > 0 && ledger.expected > 0;
}

// Whom the only one that takes longer keeps waiting. `unnamed`: in messages that do not tell for
// whom, seconds.
bool KeepsOthersWaiting(const Case& c, const Ledger& ledger, const RankAccount& account,
                        double& unnamed) {
  const double needed = c.config.explains_share * ledger.excess;
  if (account.path_typical >= needed || account.waited_for >= needed) return true;
  if (HasUnnamedMessages(c.view)) unnamed = OthersWaitLonger(c, ledger, account.rank);
  return unnamed > 0;
}

std::string NobodyWaitsFor(const Case& c, const std::string& rank) {
  const std::string wait =
      absl::StrCat("a wait of others for ", rank, ", which takes longer than before");
  if (!HasUnnamedMessages(c.view)) return wait;
  const bool agents = c.view.iterations_seen > 0;  // live or recorded, told of it
  return absl::StrCat(wait,
                      agents ? "; the other end of some sends and receives is not known"
                             : "; the recording does not name the other end of sends and receives "
                               "(PyTorch's profiler does with record_shapes=True)");
}

// It waits for cores, and nobody else takes half as much longer. On a machine that is full who
// waits is luck, unless its hardware says why it is this one (hardware/rules/core_share).
void NoteHeldBack(const Case& c, const Ledger& ledger, const RankAccount& account,
                  const Accounts& candidates, Findings& findings) {
  for (const RankAccount& other : ledger.ranks) {
    const bool less = account.typical.total >= c.config.peer_contrast * other.typical.total;
    if (other.rank != account.rank && !less) return;
  }
  Verdict verdict = ConvictRank(c, ledger, account, candidates, 1);
  verdict.cause = Cause::kHostSlow;
  verdict.owner = Owner::kOperations;
  verdict.grade = Grade::kHypothesis;
  verdict.sentence = absl::StrFormat(
      "%s waits for a core %s, %s more in each slow iteration, and holds the job back: an "
      "iteration takes %s instead of %s.",
      RankName(c.view, account.rank), SinceInWords(c.suspicion.onset),
      Duration(account.typical.total - AnswerableFor(account.typical, c.config)),
      Duration(c.suspicion.measured.Seconds()), Duration(ledger.expected));
  verdict.would_change.push_back(
      "Who takes its cores: other processes on its node are not traced.");
  verdict.action_text = "See who else runs on the cores of this rank.";
  verdict.action_command = "ps -eo pid,psr,ni,cls,pcpu,comm --sort=-pcpu | head";
  if (const RankFacts* facts = FactsOf(c.view, account.rank); facts != nullptr && facts->pid > 0) {
    absl::StrAppend(&verdict.action_command, "; taskset -cp ", facts->pid);
  }
  findings.held_back.push_back(std::move(verdict));
}

// Threads that carry its communication out wait for cores as well, and what they are late by counts
// for nobody: its own wait alone is the most of anybody's, and shows in most slow iterations.
void NoteMostHeldBack(const Case& c, const Ledger& ledger, Findings& findings) {
  const auto most = std::max_element(
      ledger.ranks.begin(), ledger.ranks.end(),
      [](const auto& a, const auto& b) { return a.typical.total < b.typical.total; });
  if (most == ledger.ranks.end() || !WaitsForCores(most->typical, c.config)) return;
  const bool mostly = 2 * most->judged >= ledger.iterations &&
                      Ratio(most->shows, most->judged) >= c.config.mostly_share;
  if (mostly) NoteHeldBack(c, ledger, *most, {}, findings);
}

void JudgeCandidate(const Case& c, const Ledger& ledger, const RankAccount& account,
                    const Accounts& candidates, double explained, Findings& findings) {
  const std::string rank = absl::StrCat("rank ", account.rank.value);
  double unnamed = 0;
  if (MostlyHeldBack(c, account)) {
    NoteHeldBack(c, ledger, account, candidates, findings);
    return Abstain(findings, absl::StrCat("who takes the cores for which ", rank,
                                          " waits: other processes on its node are not traced"));
  }
  if (!StandsOut(c, ledger, account, candidates)) {
    return Abstain(findings, absl::StrCat("a difference between ", rank,
                                          " and its peers: they take longer too"));
  }
  if (candidates.size() == 1 && !KeepsOthersWaiting(c, ledger, account, unnamed)) {
    return Abstain(findings, NobodyWaitsFor(c, rank));
  }
  Verdict verdict = ConvictRank(c, ledger, account, candidates, explained);
  if (!Convicts(verdict)) {
    return Abstain(findings, absl::StrCat("more evidence against ", rank));
  }
  if (unnamed > 0) {
    verdict.evidence.push_back(
        {"Every other rank waited longer in messages than before, at least by this, and "
         "it did not; the messages do not tell for whom.",
         unnamed, "s", 0, "arrival"});
  }
  findings.verdicts.push_back(std::move(verdict));
}

void JudgeMost(const Case& c, const Ledger& ledger, const Accounts& candidates,
               Findings& findings) {
  if (auto verdict = JudgeAlike(c, ledger, candidates, NodesOf(c.view, candidates))) {
    findings.verdicts.push_back(*std::move(verdict));
    return;
  }
  Abstain(findings,
          "a difference between ranks: most take longer alike, as when something else "
          "uses the machine or the work itself has grown");
}

// Several that became slow at once are one matter: of what they share. False: they share nothing.
bool JudgeTogether(const Case& c, const Ledger& ledger, const Accounts& candidates,
                   Findings& findings) {
  const bool together = WorkTogether(c, candidates);
  const std::string node = NodeOfAll(c.view, ledger, candidates);
  // More work for one replica is more computing; a host that fails is not.
  const bool more_work =
      together && CauseOf(candidates.front()->typical, c.config) == Cause::kComputeSlow;
  // One rank speaks for itself alone, and not for its node.
  if (candidates.size() > 1 && !node.empty() && !more_work) {
    findings.verdicts.push_back(ConvictHost(c, ledger, node, candidates));
  } else if (2 * candidates.size() > ledger.ranks.size()) {
    JudgeMost(c, ledger, candidates, findings);
  } else if (together) {
    Abstain(findings, absl::StrCat("what ranks ", RankList(RanksOf(candidates)),
                                   ", which work together and take longer alike at once, have in "
                                   "common: more work for all of them, or something they share"));
  } else if (OnManyNodes(c, candidates)) {
    Abstain(findings, absl::StrFormat("what %d ranks on %d nodes that became slow at once have in "
                                      "common: more work by design, or something they share",
                                      candidates.size(), NodesOf(c.view, candidates)));
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool WaitsForCores(const Excess& parts, const DiagnosisConfig& config) {
  return parts.runqueue - parts.crowding >= config.mostly_share * parts.total &&
         parts.compute < config.explains_share * parts.total;
}

double AnswerableFor(const Excess& parts, const DiagnosisConfig& config) {
  if (parts.compute >= config.explains_share * parts.total) return parts.total;
  return parts.total - std::max(0.0, parts.runqueue - parts.crowding);
}

Cause CauseOf(const Excess& parts, const DiagnosisConfig& config) {
  const double whole = parts.total;
  if (whole <= 0) return Cause::kUnknown;
  if (parts.gc >= config.mostly_share * whole) return Cause::kGc;
  if (parts.dataloader >= config.mostly_share * whole) return Cause::kDataLoader;
  const bool cpu_leads = parts.compute >= config.explains_share * whole;
  const double computing = parts.compute + (cpu_leads ? parts.runqueue : parts.crowding);
  const double most = std::max({computing, parts.host, parts.unsplit});
  if (most == parts.unsplit) return Cause::kUnknown;
  return most == computing ? Cause::kComputeSlow : Cause::kHostSlow;
}

void JudgeSlowness(const Case& c, const Ledger& ledger, Findings& findings) {
  if (!EnoughToJudge(c, ledger, findings)) return;
  const Accounts candidates = Candidates(c, ledger);
  Accounts left = candidates;
  if (auto more_work = JudgeWork(c, ledger, candidates)) {
    const std::vector<RankId>& loaded = more_work->entity.ranks;
    std::erase_if(left, [&](const RankAccount* account) {
      return loaded.empty() || std::binary_search(loaded.begin(), loaded.end(), account->rank);
    });
    findings.verdicts.push_back(*std::move(more_work));
    if (left.empty()) return;
  }
  if (candidates.empty()) {
    JudgeGroups(c, ledger, findings);
    if (!findings.verdicts.empty()) return;
    NoteMostHeldBack(c, ledger, findings);
    Abstain(findings, NobodyTakesLonger(c, ledger));
    return;
  }
  if (JudgeTogether(c, ledger, left, findings)) return;
  double explained = 0;
  for (const RankAccount* account : candidates) explained += account->path_typical / ledger.excess;
  for (const RankAccount* account : left) {
    JudgeCandidate(c, ledger, *account, candidates, explained, findings);
  }
}

}  // namespace fathom::diagnosis
