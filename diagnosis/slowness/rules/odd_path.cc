#include "diagnosis/slowness/rules/odd_path.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/peers/account_limits.h"
#include "diagnosis/slowness/rules/link_slow.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr double kMuchOfMost = 0.5;    // of the bytes of the busiest path: carries as much as it
constexpr double kAsSlowBefore = 0.7;  // of the time per byte
constexpr double kBeyondCores = 2;  // × what an end of the path waits for a core: the least loss

// A path that carries little carries it in small messages, whose time is latency.
DiagnosisConfig AmongBusyPaths(const JobView& view, DiagnosisConfig config) {
  std::uint64_t most = 0;
  for (const RankFacts& facts : view.ranks) {
    for (const PathFlow& flow : facts.flows) most = std::max(most, flow.bytes_since);
  }
  config.link_megabytes =
      std::max(config.link_megabytes, kMuchOfMost * static_cast<double>(most) / 1e6);
  return config;
}

bool BecameSo(const SlowNetwork& network) {
  const PathTime& worst = network.paths.front();
  return worst.before_s_per_mb > 0 && worst.before_s_per_mb < kAsSlowBefore * worst.since_s_per_mb;
}

// Of each rank, seconds an iteration.
std::map<RankId, double> MeansOf(const JobView& view, Nanos RankIteration::*what) {
  std::map<RankId, std::pair<double, double>> sums;
  for (const IterationSummary& it : view.window) {
    for (const RankIteration& mine : it.ranks) {
      sums[mine.rank].first += (mine.*what).Seconds();
      ++sums[mine.rank].second;
    }
  }
  std::map<RankId, double> means;
  for (const auto& [rank, sum] : sums) means[rank] = sum.first / sum.second;
  return means;
}

// Of the rank that waits least, an iteration.
double LeastBlocked(const JobView& view) {
  const auto means = MeansOf(view, &RankIteration::blocked);
  const auto least = std::min_element(
      means.begin(), means.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return least == means.end() ? 0 : std::max(least->second, 0.0);
}

double LostAnIteration(const JobView& view, const SlowNetwork& network) {
  const double iteration = MedianDuration(view);
  const double known =
      iteration * static_cast<double>(std::max<std::int64_t>(
                      view.iterations_seen, static_cast<std::int64_t>(view.window.size())));
  const double stretch = std::min(kPathStretch.Seconds(), known);
  if (stretch <= 0) return 0;
  return std::min(iteration * network.paths.front().excess_s / stretch, LeastBlocked(view));
}

// What the worse end of the slowest path waits for a core, an iteration: who has none neither sends
// nor receives, and so does the kernel for it.
double StarvedAtItsEnds(const JobView& view, const SlowNetwork& network) {
  auto means = MeansOf(view, &RankIteration::runqueue);
  const PathTime& worst = network.paths.front();
  return std::max(means[worst.src], means[worst.dst]);
}

Verdict VerdictOnPath(const JobView& view, const SlowNetwork& network, double lost) {
  const double iteration = MedianDuration(view);
  Verdict verdict;
  verdict.cause = Cause::kLinkSlow;
  verdict.grade = Grade::kSupported;
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.since_iteration = view.window.front().index;
  verdict.since_time = view.window.front().begin;
  verdict.from_start = true;
  verdict.cost = CostOfWindow(view, lost);
  verdict.cost.slowdown = iteration / std::max(iteration - lost, 1e-9);
  verdict.sentence = absl::StrFormat(
      "Communication is slow on part of the network, since the job began: an iteration takes %s, "
      "and would take some %s if all paths were as fast as the fastest one (%.2fx).",
      Duration(iteration), Duration(iteration - lost), verdict.cost.slowdown);
  NameSlowNetwork(view, network, verdict);
  verdict.victims = RanksBeside(view, verdict.entity.ranks);
  verdict.counter_evidence.push_back(
      {"Iterations before it began: none is known, so it may always have been so.", 0, "iterations",
       static_cast<double>(view.window.size()), "odd_path"});
  verdict.would_change.push_back("Paths that are longer by design, such as to another site.");
  return verdict;
}

}  // namespace

WallNs PathStretchOf(const JobView& view) { return view.window.back().begin - kPathStretch; }

std::optional<Verdict> FindOddPath(const JobView& view, const DiagnosisConfig& config) {
  if (view.window.empty()) return std::nullopt;
  const auto network = FindOddNetwork(view, RanksBeside(view, {}), AmongBusyPaths(view, config));
  if (!network || BecameSo(*network)) return std::nullopt;
  const double lost = LostAnIteration(view, *network);
  if (lost < AccountLimits().alone_cost * MedianDuration(view)) return std::nullopt;
  if (lost < kBeyondCores * StarvedAtItsEnds(view, *network)) return std::nullopt;
  return VerdictOnPath(view, *network, lost);
}

}  // namespace fathom::diagnosis
