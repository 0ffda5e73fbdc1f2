#include "diagnosis/engine/peer_look.h"

#include <algorithm>
#include <set>
#include <vector>

#include "diagnosis/ledger/account_limits.h"
#include "diagnosis/ledger/outliers.h"
#include "diagnosis/ledger/peers.h"
#include "diagnosis/ledger/rank_outliers.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kFewest = 5;   // iterations, for a question that costs rows
constexpr std::size_t kNewest = 64;  // looked at
// Values looked at: fewer iterations of a large job, so that a look stays cheap.
constexpr std::size_t kMostValues = 1 << 18;
constexpr std::size_t kRowsOf = 12;  // iterations whose rows are asked for

std::size_t IterationsOf(const JobView& view) {
  const std::size_t ranks = std::max<std::size_t>(1, view.window.back().ranks.size());
  return std::clamp(kMostValues / ranks, kFewest, kNewest);
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

}  // namespace

std::optional<RowsWanted> LookAtPeers(const JobView& view, const DiagnosisConfig& config) {
  if (view.window.size() < kFewest || !view.schedule.empty()) return std::nullopt;
  const std::size_t newest = IterationsOf(view);
  const Peers peers = PeersOf(view, newest);
  const double iteration_s = MedianIterationOf(view, newest);
  if (iteration_s <= 0) return std::nullopt;
  const AccountLimits limits;
  const Outliers outliers = OutliersOfRanks(peers, iteration_s, limits);
  const bool any = std::any_of(outliers.found.begin(), outliers.found.end(), [&](const Outlier& o) {
    return o.excess >= limits.least_cost * iteration_s;
  });
  if (!any) return std::nullopt;
  return RowsWanted{RanksToAskFor(peers, outliers, config.all_ranks_up_to),
                    IterationsToAskFor(peers, outliers)};
}

}  // namespace fathom::diagnosis
