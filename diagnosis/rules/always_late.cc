#include "diagnosis/rules/always_late.h"

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
#include "diagnosis/evidence/phrase.h"
#include "diagnosis/graph/message_groups.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kShows = 0.9;   // of the iterations
constexpr double kMostly = 0.5;  // of the time beyond the others', to be its cause

double OwnTime(const RankIteration& r) { return (r.duration - r.blocked - r.runqueue).Seconds(); }
double Worked(const RankIteration& r) { return (r.device.count > 0 ? r.device : r.cpu).Seconds(); }

using Part = std::function<double(const RankIteration&)>;

// Of one rank against the median of the others, the median over the iterations that have it.
double Beyond(const JobView& view, RankId rank, const Part& part) {
  std::vector<double> beyond;
  for (const IterationSummary& it : view.window) {
    std::vector<double> others;
    const RankIteration* mine = nullptr;
    for (const RankIteration& r : it.ranks) {
      if (r.rank == rank) mine = &r;
      if (r.rank != rank) others.push_back(part(r));
    }
    if (mine != nullptr && !others.empty()) beyond.push_back(part(*mine) - Median(others));
  }
  return Median(std::move(beyond));
}

struct Shown {
  std::size_t late = 0;
  std::size_t of = 0;
};

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

// Looks at the window from its iteration `first` on. Gives up on a rank that was on time too often.
Shown LateIn(const JobView& view, std::size_t first, RankId rank, const DiagnosisConfig& config) {
  const double spare = (1 - kShows) * static_cast<double>(view.window.size());
  Shown shown;
  for (std::size_t i = first; i < view.window.size(); ++i) {
    std::vector<double> others;
    double own = -1;
    for (const RankIteration& r : view.window[i].ranks) {
      if (r.rank == rank) {
        own = OwnTime(r);
      } else {
        others.push_back(OwnTime(r));
      }
    }
    if (own < 0 || others.empty()) continue;
    ++shown.of;
    shown.late += own >= config.always_late_ratio * Median(std::move(others));
    if (static_cast<double>(shown.of - shown.late) > spare) return {};
  }
  return shown;
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

Cause CauseOfLateness(const JobView& view, RankId rank, double beyond) {
  const auto mostly = [&](const Part& part) {
    return Beyond(view, rank, part) >= kMostly * beyond;
  };
  if (mostly([](const RankIteration& r) { return r.gc.Seconds(); })) return Cause::kGc;
  if (mostly([](const RankIteration& r) { return r.dataloader.Seconds(); })) {
    return Cause::kDataLoader;
  }
  if (mostly(Worked)) return Cause::kComputeSlow;
  const auto& ranks = view.window.front().ranks;
  const bool told =
      std::any_of(ranks.begin(), ranks.end(), [](const RankIteration& r) { return Worked(r) > 0; });
  return told ? Cause::kHostSlow : Cause::kUnknown;
}

double MedianDuration(const JobView& view) {
  std::vector<double> durations;
  for (const IterationSummary& it : view.window) {
    for (const RankIteration& r : it.ranks) durations.push_back(r.duration.Seconds());
  }
  return Median(std::move(durations));
}

Verdict Lead(const Case& c, std::size_t first, RankId rank, const Shown& shown) {
  const double beyond = Beyond(c.view, rank, OwnTime);
  const double duration = MedianDuration(c.view);
  Verdict verdict;
  verdict.grade = Grade::kHypothesis;
  verdict.cause = CauseOfLateness(c.view, rank, beyond);
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.entity.ranks = {rank};
  for (const RankFacts& facts : c.view.ranks) {
    if (facts.rank == rank) verdict.entity.node = facts.node;
    if (facts.rank != rank) verdict.victims.push_back(facts.rank);
  }
  verdict.since_iteration = c.view.window.front().index;
  verdict.since_time = c.view.window.front().begin;
  verdict.cost = CostOfSteps(c.view, c.view.window.size(), duration, duration - beyond);
  if (duration <= beyond) verdict.cost.slowdown = 1;
  const std::string into = verdict.cause == Cause::kUnknown
                               ? std::string()
                               : absl::StrCat(", most of it ", CauseInWords(verdict.cause));
  verdict.sentence = absl::StrFormat(
      "%s was late in %d of %d recorded iterations, from the %s on: %s of its own more than "
      "the others%s. No time before is recorded, so this may be how the work is divided.",
      RankName(c.view, rank), shown.late, c.view.window.size(), first > 0 ? "second" : "first",
      Duration(beyond), into);
  verdict.evidence.push_back(
      {"Iterations in which it took so much longer; each of the others waited.",
       static_cast<double>(shown.late), "iterations", static_cast<double>(shown.of), "iterations"});
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
  const std::set<RankId> busy = DoNotWait(c.view, first, c.config);
  for (const auto& [rank, rows] : c.view.rows) {
    if (busy.size() > 1 || (busy.size() == 1 && !busy.contains(rank))) continue;
    const Shown shown = LateIn(c.view, first, rank, c.config);
    if (shown.of < least) continue;
    if (static_cast<double>(shown.late) < kShows * static_cast<double>(shown.of)) continue;
    out.verdicts.push_back(Lead(c, first, rank, shown));
  }
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
