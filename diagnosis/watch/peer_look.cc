#include "diagnosis/watch/peer_look.h"

#include <algorithm>
#include <set>
#include <vector>

#include "diagnosis/peers/account_limits.h"
#include "diagnosis/peers/outliers.h"
#include "diagnosis/peers/peers.h"
#include "diagnosis/peers/rank_outliers.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kFewest = 8;    // iterations, for a question that costs rows
constexpr std::int64_t kStartUp = 3;  // iterations of a job that are passed over
constexpr double kMostOfLoss = 0.6;   // of the slow iterations of an episode
constexpr std::size_t kNewest = 64;   // looked at
// Values looked at: fewer iterations of a large job, so that a look stays cheap.
constexpr std::size_t kMostValues = 1 << 18;
constexpr std::size_t kRowsOf = 12;  // iterations whose rows are asked for

std::size_t IterationsOf(const JobView& view) {
  const std::size_t ranks = std::max<std::size_t>(1, view.window.back().ranks.size());
  const auto past_start_up =
      std::count_if(view.window.begin(), view.window.end(),
                    [](const IterationSummary& it) { return it.index.value >= kStartUp; });
  return std::min(std::clamp(kMostValues / ranks, kFewest, kNewest),
                  static_cast<std::size_t>(past_start_up));
}

// Those in which somebody shows, and the one after: who is late behind the last communication of an
// iteration makes the others wait in the next. The newest, as many as are asked for.
std::vector<Iteration> IterationsToAskFor(const Peers& peers, const Outliers& outliers) {
  std::set<std::size_t> shown;
  for (const Outlier& outlier : outliers.found) {
    for (std::size_t i = 0; i < outlier.in.size(); ++i) {
      if (outlier.in[i]) shown.insert({i, std::min(i + 1, outlier.in.size() - 1)});
    }
  }
  std::vector<Iteration> out;
  for (auto it = shown.rbegin(); it != shown.rend() && out.size() < kRowsOf; ++it) {
    out.push_back(peers.iterations[*it]);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// The ranks that were found first, then others to compare them with.
std::vector<RankId> RanksToAskFor(const Peers& peers, const Outliers& outliers, std::size_t most) {
  if (peers.ranks.size() <= most) return peers.ranks;
  std::set<RankId> chosen;
  std::set<std::size_t> roles;
  for (const Outlier& outlier : outliers.found) {
    chosen.insert(peers.ranks[outlier.entity]);
    roles.insert(peers.role[outlier.entity]);
  }
  for (std::size_t r = 0; r < peers.ranks.size() && chosen.size() < most; ++r) {
    if (roles.contains(peers.role[r])) chosen.insert(peers.ranks[r]);
  }
  return {chosen.begin(), chosen.end()};
}

// It began after the job had shown what is usual, and goes on: its past tells that better, as long
// as it is not learned anew.
bool IsRecent(const JobView& view, const Peers& peers, const Outlier& outlier,
              const DiagnosisConfig& config) {
  const auto first = std::find(outlier.in.begin(), outlier.in.end(), true) - outlier.in.begin();
  const std::int64_t since = peers.iterations[static_cast<std::size_t>(first)].value;
  const std::int64_t newest = view.window.back().index.value;
  const bool goes_on =
      std::all_of(outlier.in.begin() + first, outlier.in.end(), [](bool shows) { return shows; });
  return since >= config.baseline_iterations && newest - since < config.learning_iterations &&
         (goes_on || outlier.shows < kFewest);
}

// It came and went before the job became slow, or the job has shown nothing before that would tell
// what is usual; and most of what is lost since then is lost in its iterations, or in those behind
// them: nothing began there.
bool WasSoBefore(const Peers& peers, const Outlier& outlier, const SlowSince& since,
                 const DiagnosisConfig& config) {
  const bool has_past = since.first->value >= config.baseline_iterations;
  std::size_t before = 0, known_before = 0, after = 0;
  double lost = 0, explained = 0;
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    const Iteration iteration = peers.iterations[i];
    if (iteration < *since.first) {
      before += outlier.in[i] ? 1 : 0;
      ++known_before;
      continue;
    }
    after += outlier.in[i] ? 1 : 0;
    const auto slow = since.lost.find(iteration);
    if (slow == since.lost.end()) continue;
    lost += slow->second;
    if (outlier.in[i] || (i > 0 && outlier.in[i - 1])) explained += slow->second;
  }
  if (outlier.lasting) return false;
  // As often before as after, or nearly.
  const std::size_t known_after = outlier.in.size() - known_before;
  const bool as_often = before >= 2 && 2 * before * known_after >= after * known_before;
  if (has_past && before < kFewestForMedian && !as_often) return false;
  return explained >= kMostOfLoss * lost;
}

template <typename Part>
double MedianOf(const std::vector<OwnPieces>& pieces, const Part& part) {
  std::vector<double> values;
  for (const OwnPieces& each : pieces) {
    if (each.known) values.push_back(part(each));
  }
  return Median(std::move(values));
}

// A rank whose peers, if it has any, are too few to tell who is wrong computes several times as
// long as all others, and they wait: rows tell whether it is a stage of its own (rule imbalance).
bool OneIsHeavy(const Peers& peers, double iteration_s, const DiagnosisConfig& config) {
  std::vector<double> work, walls;
  for (const auto& pieces : peers.pieces) {
    work.push_back(MedianOf(pieces, [](const OwnPieces& p) { return p.stage_work; }));
    walls.push_back(MedianOf(pieces, [](const OwnPieces& p) { return p.wall; }));
  }
  if (work.size() < kFewestForMedian) return false;
  const auto most = std::max_element(work.begin(), work.end()) - work.begin();
  const double heavy = work[static_cast<std::size_t>(most)];
  const std::size_t role = peers.role[static_cast<std::size_t>(most)];
  if (std::count(peers.role.begin(), peers.role.end(), role) > 2) return false;
  work.erase(work.begin() + most);
  walls.erase(walls.begin() + most);
  const double rest = *std::max_element(walls.begin(), walls.end());
  return heavy >= config.peer_contrast * Median(std::move(work)) &&
         rest <= (1 - config.explains_share) * iteration_s;
}

std::vector<Iteration> NewestOf(const Peers& peers) {
  const std::size_t count = std::min(kRowsOf, peers.iterations.size());
  return {peers.iterations.end() - static_cast<std::ptrdiff_t>(count), peers.iterations.end()};
}

}  // namespace

std::optional<RowsWanted> LookAtPeers(const JobView& view, const DiagnosisConfig& config,
                                      const SlowSince& since) {
  if (view.window.empty() || !view.schedule.empty()) return std::nullopt;
  const std::size_t newest = IterationsOf(view);
  if (newest < kFewest) return std::nullopt;
  const Peers peers = PeersOf(view, newest);
  const double iteration_s = MedianIterationOf(view, newest);
  if (iteration_s <= 0) return std::nullopt;
  const AccountLimits limits;
  const Outliers outliers = OutliersOfRanks(peers, iteration_s, limits);
  const bool any = std::any_of(outliers.found.begin(), outliers.found.end(), [&](const Outlier& o) {
    if (o.shows < kFewestForMedian || o.excess < limits.least_cost * iteration_s) return false;
    return since.first ? WasSoBefore(peers, o, since, config) : !IsRecent(view, peers, o, config);
  });
  const bool all_fit = peers.ranks.size() <= config.all_ranks_up_to;
  if (!any && !since.first && all_fit && OneIsHeavy(peers, iteration_s, config)) {
    return RowsWanted{peers.ranks, NewestOf(peers)};
  }
  if (!any) return std::nullopt;
  return RowsWanted{RanksToAskFor(peers, outliers, config.all_ranks_up_to),
                    IterationsToAskFor(peers, outliers)};
}

}  // namespace fathom::diagnosis
