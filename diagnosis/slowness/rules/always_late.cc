#include "diagnosis/slowness/rules/always_late.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/graph/message_groups.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/model/rank_times.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

double OwnTime(const RankIteration& r) { return OwnTimeOf(r).Seconds(); }
double Worked(const RankIteration& r) { return BusyOf(r).Seconds(); }

using Part = std::function<double(const RankIteration&)>;

// What a rank took in two iterations in a row, and the median of the others. Two: who is late
// behind the last communication of an iteration makes the others wait in the next, and may be told
// to have taken the time in either.
struct Pair {
  double mine = 0;
  double others = 0;
};

std::vector<Pair> PairsOf(const JobView& view, std::size_t first, RankId rank, const Part& part) {
  std::vector<Pair> pairs;
  for (std::size_t i = first; i + 1 < view.window.size(); ++i) {
    std::vector<double> others;
    double mine = -1;
    for (const RankIteration& r : view.window[i].ranks) {
      const RankIteration* next = RankIn(view.window[i + 1], r.rank);
      if (next == nullptr) continue;
      const double took = part(r) + part(*next);
      if (r.rank == rank) mine = took;
      if (r.rank != rank) others.push_back(took);
    }
    if (mine >= 0 && !others.empty()) pairs.push_back({mine, Median(std::move(others))});
  }
  return pairs;
}

// What it takes more in an iteration.
double Beyond(const std::vector<Pair>& pairs) {
  std::vector<double> beyond;
  for (const Pair& pair : pairs) beyond.push_back((pair.mine - pair.others) / 2);
  return Median(std::move(beyond));
}

double LongestOf(const IterationSummary& it) {
  double longest = 0;
  for (const RankIteration& r : it.ranks) longest = std::max(longest, r.duration.Seconds());
  return longest;
}

// A first iteration that took longest of all holds the start of whatever recorded it.
bool StartsWithTheRecorder(const JobView& view) {
  const double first = LongestOf(view.window.front());
  return std::all_of(view.window.begin() + 1, view.window.end(),
                     [&](const IterationSummary& it) { return LongestOf(it) < first; });
}

// A few pairs of iterations may be chance, so they must show more.
bool AlwaysLonger(const std::vector<Pair>& pairs, const DiagnosisConfig& config) {
  const auto count = static_cast<double>(pairs.size());
  const double ratio = std::max(config.always_late_ratio, 1 + config.always_late_few / count);
  const auto longer = std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) {
    return pair.mine >= ratio * pair.others;
  });
  return static_cast<double>(longer) >= config.guilty_share * count;
}

// The rank that took most time of its own.
RankId LongestOwn(const JobView& view, std::size_t first) {
  std::map<RankId, double> own;
  for (std::size_t i = first; i < view.window.size(); ++i) {
    for (const RankIteration& r : view.window[i].ranks) own[r.rank] += OwnTime(r);
  }
  const auto longest = std::max_element(
      own.begin(), own.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return longest == own.end() ? kNoRank : longest->first;
}

// Ranks that do not wait for their share of the time. Over all iterations: who is late after the
// last op of an iteration makes the others wait in the next one.
std::set<RankId> DoNotWait(const JobView& view, std::size_t first, const DiagnosisConfig& config) {
  std::map<RankId, double> spare;
  for (std::size_t i = first; i < view.window.size(); ++i) {
    for (const RankIteration& r : view.window[i].ranks) {
      spare[r.rank] += r.blocked.Seconds() - config.always_late_wait * r.duration.Seconds();
    }
  }
  std::set<RankId> ranks;
  for (const auto& [rank, seconds] : spare) {
    if (seconds < 0) ranks.insert(rank);
  }
  return ranks;
}

// What the others wait in an iteration: its lateness must explain most of it. Half of what they
// wait in two in a row, for they may wait in every other one only.
double WaitOfOthers(const JobView& view, std::size_t first, RankId rank) {
  std::vector<double> waits;
  const Part blocked = [](const RankIteration& r) { return r.blocked.Seconds(); };
  for (const Pair& pair : PairsOf(view, first, rank, blocked)) waits.push_back(pair.others / 2);
  return Median(std::move(waits));
}

Cause CauseOfLateness(const Case& c, std::size_t first, RankId rank, double beyond) {
  const JobView& view = c.view;
  const auto mostly = [&](const Part& part) {
    return Beyond(PairsOf(view, first, rank, part)) >= c.config.mostly_share * beyond;
  };
  if (mostly([](const RankIteration& r) { return r.gc.Seconds(); })) return Cause::kGc;
  if (mostly([](const RankIteration& r) { return LoadingOf(r).Seconds(); })) {
    return Cause::kDataLoader;
  }
  if (mostly(Worked)) return Cause::kComputeSlow;
  const auto& ranks = view.window.front().ranks;
  const bool told =
      std::any_of(ranks.begin(), ranks.end(), [](const RankIteration& r) { return Worked(r) > 0; });
  return told ? Cause::kHostSlow : Cause::kUnknown;
}

Verdict Lead(const Case& c, std::size_t first, RankId rank, const std::vector<Pair>& pairs) {
  const double beyond = Beyond(pairs);
  Verdict verdict;
  verdict.grade = Grade::kHypothesis;
  verdict.cause = CauseOfLateness(c, first, rank, beyond);
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.entity.ranks = {rank};
  for (const RankFacts& facts : c.view.ranks) {
    if (facts.rank == rank) verdict.entity.node = facts.node;
    if (facts.rank != rank) verdict.victims.push_back(facts.rank);
  }
  verdict.since_iteration = c.view.window.front().index;
  verdict.since_time = c.view.window.front().begin;
  verdict.cost = CostOfWindow(c.view, beyond);
  const std::string into = verdict.cause == Cause::kUnknown
                               ? std::string()
                               : absl::StrCat(", most of it ", CauseInWords(verdict.cause));
  verdict.sentence = absl::StrFormat(
      "%s was late all through the recorded iterations, from the %s of %d on: %s of its own in "
      "each beyond the others%s. No time before is recorded, so this may be how the work is "
      "divided.",
      RankName(c.view, rank), first > 0 ? "second" : "first", c.view.window.size(),
      Duration(beyond), into);
  const Pair& least = *std::min_element(
      pairs.begin(), pairs.end(),
      [](const Pair& a, const Pair& b) { return a.mine * b.others < b.mine * a.others; });
  verdict.evidence.push_back(
      {"Its own time in the two iterations in a row that show it least, and the others'; each of "
       "the others waited.",
       least.mine, "s", least.others, "iterations"});
  verdict.would_change.push_back(
      "A recording in which this rank takes no longer than the others: "
      "compare with it (--against).");
  AdviseOnRank(c.view, rank, verdict);
  return verdict;
}

void Examine(const Case& c, Findings& out) {
  const auto least = static_cast<std::size_t>(std::max(c.config.always_late_iterations, 0));
  if (least == 0 || c.view.window.size() < least || CarriesMessages(c.view)) return;
  const std::size_t first = StartsWithTheRecorder(c.view) ? 1 : 0;
  const RankId rank = LongestOwn(c.view, first);
  std::set<RankId> busy = DoNotWait(c.view, first, c.config);
  busy.erase(rank);
  if (!busy.empty() || !c.view.rows.contains(rank)) return;
  const std::vector<Pair> pairs = PairsOf(c.view, first, rank, OwnTime);
  if (pairs.size() + 1 < least || !AlwaysLonger(pairs, c.config)) return;
  if (Beyond(pairs) < c.config.explained_share * WaitOfOthers(c.view, first, rank)) return;
  out.verdicts.push_back(Lead(c, first, rank, pairs));
}

}  // namespace

Rule AlwaysLateRule() {
  return {"always_late",
          {},
          "whether a rank was late from the start",
          [](const Suspicion& s) { return !s.slow && !s.stalled; },
          Examine};
}

}  // namespace fathom::diagnosis
