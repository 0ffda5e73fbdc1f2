#include "diagnosis/peers/rank_outliers.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/peers/pair_outlier.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

std::vector<std::size_t> SizesOfRoles(const Peers& peers) {
  std::vector<std::size_t> sizes(peers.roles);
  for (const std::size_t role : peers.role) ++sizes[role];
  return sizes;
}

bool ComputeKnown(const Peers& peers) {
  return std::all_of(peers.pieces.begin(), peers.pieces.end(), [](const auto& pieces) {
    return std::any_of(pieces.begin(), pieces.end(),
                       [](const OwnPieces& each) { return each.compute > 0; });
  });
}

// On a CPU what computes holds the collections; a device knows nothing of them.
double OverheadOf(const OwnPieces& pieces, bool on_device) {
  const double marked = pieces.dataloader + (on_device ? pieces.gc : 0);
  const double host = std::max(0.0, pieces.own - pieces.compute - marked);
  return host + pieces.gc + pieces.dataloader;
}

// One part of the own time of each rank.
template <typename Part>
OutlierTable TableOf(const Peers& peers, double iteration_s, const Part& part) {
  OutlierTable table;
  table.iteration_s = iteration_s;
  table.role.assign(peers.ranks.size(), 0);
  for (const auto& pieces : peers.pieces) {
    std::vector<double>& row = table.seconds.emplace_back();
    for (const OwnPieces& each : pieces) row.push_back(each.known ? part(each) : std::nan(""));
  }
  return table;
}

// Of host time alone: what mends it leaves the rest of the own time as it is.
void AddOfHost(const Outlier& outlier, const OutlierTable& own, const OutlierTable& part,
               const Outliers& of_part, Outliers& out) {
  const std::size_t e = outlier.entity;
  for (std::size_t i = 0; i < own.seconds[e].size(); ++i) {
    out.reference[e][i] = own.seconds[e][i] - (part.seconds[e][i] - of_part.reference[e][i]);
  }
  out.found.push_back(outlier);
  out.found.back().host_time = true;
}

bool IsFound(const Outliers& outliers, std::size_t entity) {
  return std::any_of(outliers.found.begin(), outliers.found.end(),
                     [&](const Outlier& each) { return each.entity == entity; });
}

// Collections and awaited batches are marked, so that they are told from whatever else makes
// iterations of other ranks long: a checkpoint of one does not hide those of another.
template <typename Part>
void AddOfMarks(const Peers& peers, const OutlierTable& own, const OutlierLimits& limits,
                const Part& part, Outliers& out) {
  const bool any = std::any_of(peers.pieces.begin(), peers.pieces.end(), [&](const auto& pieces) {
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const OwnPieces& each) { return each.known && part(each) > 0; });
  });
  if (!any) return;
  OutlierTable marked = TableOf(peers, own.iteration_s, part);
  marked.role = peers.role;
  const Outliers of_marks = FindOutliers(marked, limits);
  for (const Outlier& outlier : of_marks.found) {
    if (!outlier.single && !IsFound(out, outlier.entity)) {
      AddOfHost(outlier, own, marked, of_marks, out);
    }
  }
}

}  // namespace

Outliers OutliersOfRanks(const Peers& peers, double iteration_s, const AccountLimits& limits) {
  const OutlierLimits& of_clock = peers.on_device || peers.beside ? limits.ranks : limits.host;
  const OutlierTable own = OwnTimesOf(peers, iteration_s);
  Outliers out = FindOutliers(own, of_clock);
  AddOfMarks(
      peers, own, of_clock, [](const OwnPieces& each) { return each.gc; }, out);
  AddOfMarks(
      peers, own, of_clock, [](const OwnPieces& each) { return each.dataloader; }, out);
  const std::vector<std::size_t> sizes = SizesOfRoles(peers);
  const bool alone = std::any_of(sizes.begin(), sizes.end(), [](std::size_t n) { return n < 3; });
  if (!alone || !ComputeKnown(peers)) return out;
  const OutlierTable host = TableOf(
      peers, iteration_s, [&](const OwnPieces& each) { return OverheadOf(each, peers.on_device); });
  const Outliers of_hosts =
      peers.ranks.size() == 2 ? OutlierOfPair(host, of_clock) : FindOutliers(host, of_clock);
  for (const Outlier& outlier : of_hosts.found) {
    if (sizes[peers.role[outlier.entity]] <= 2) AddOfHost(outlier, own, host, of_hosts, out);
  }
  return out;
}

std::vector<std::pair<RankId, RankId>> PairsThatDiffer(const Peers& peers, double iteration_s,
                                                       const AccountLimits& limits) {
  std::vector<std::vector<std::size_t>> of_role(peers.roles);
  for (std::size_t r = 0; r < peers.ranks.size(); ++r) of_role[peers.role[r]].push_back(r);
  std::erase_if(of_role, [](const auto& ranks) { return ranks.size() != 2; });
  std::sort(of_role.begin(), of_role.end());
  std::vector<std::pair<RankId, RankId>> out;
  for (const auto& pair : of_role) {
    std::vector<double> apart;
    for (std::size_t i = 0; i < peers.iterations.size(); ++i) {
      const OwnPieces &first = peers.pieces[pair[0]][i], &second = peers.pieces[pair[1]][i];
      if (first.known && second.known) apart.push_back(first.own - second.own);
    }
    if (std::abs(Median(std::move(apart))) < limits.pair_differs * iteration_s) continue;
    out.emplace_back(peers.ranks[pair[0]], peers.ranks[pair[1]]);
  }
  return out;
}

}  // namespace fathom::diagnosis
