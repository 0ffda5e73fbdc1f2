#include "diagnosis/ledger/accounting.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "diagnosis/ledger/channel_suspects.h"
#include "diagnosis/ledger/channels.h"
#include "diagnosis/ledger/counterfactual.h"
#include "diagnosis/ledger/lanes.h"
#include "diagnosis/ledger/sharing.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/peers/peers.h"
#include "diagnosis/peers/rank_outliers.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kFewestIterations = 2;
// Longer windows are of live jobs, whose older iterations may have been others.
constexpr std::size_t kMostIterations = 64;

// The median, over the iterations in which it shows, of what it takes beyond its peers' median. Of
// host time all are peers.
template <typename Part>
double Beyond(const Peers& peers, const Outlier& outlier, const Part& part) {
  std::vector<double> beyond;
  const std::size_t role = peers.role[outlier.entity];
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    if (!outlier.in[i]) continue;
    std::vector<double> others;
    for (std::size_t r = 0; r < peers.ranks.size(); ++r) {
      const OwnPieces& pieces = peers.pieces[r][i];
      const bool peer = r != outlier.entity && (outlier.host_time || peers.role[r] == role);
      if (peer && pieces.known) {
        others.push_back(part(pieces));
      }
    }
    beyond.push_back(part(peers.pieces[outlier.entity][i]) - Median(std::move(others)));
  }
  return Median(std::move(beyond));
}

// Of one kind of work against its peers'; 0 where it is not known.
double WorkRatio(const Peers& peers, const Outlier& outlier, WorkKind kind) {
  const auto k = static_cast<std::size_t>(kind);
  std::vector<double> ratios;
  const std::size_t role = peers.role[outlier.entity];
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    std::vector<double> others;
    for (std::size_t r = 0; r < peers.ranks.size(); ++r) {
      if (r != outlier.entity && peers.role[r] == role) {
        others.push_back(peers.pieces[r][i].work[k]);
      }
    }
    const double usual = Median(std::move(others));
    if (outlier.in[i] && usual > 0) {
      ratios.push_back(peers.pieces[outlier.entity][i].work[k] / usual);
    }
  }
  return ratios.empty() ? 0 : Median(std::move(ratios));
}

// What its kernels ran is the work itself; the others are what it was asked for, and a device that
// is slow is asked for no more of any.
void CompareWork(const Peers& peers, const Outlier& outlier, Accused& accused) {
  accused.work = WorkKind::kBlocks;
  double ratio = WorkRatio(peers, outlier, WorkKind::kBlocks);
  if (ratio <= 0) {
    const double elements = WorkRatio(peers, outlier, WorkKind::kElements);
    const double bytes = WorkRatio(peers, outlier, WorkKind::kBytes);
    accused.work = elements >= bytes ? WorkKind::kElements : WorkKind::kBytes;
    ratio = std::max(elements, bytes);
  }
  accused.work_ratio = ratio > 0 ? ratio : 1;
  accused.flop_ratio = WorkRatio(peers, outlier, WorkKind::kProducts);
}

Cause CauseOfRank(const Accused& accused, const Peers& peers, const AccountLimits& limits) {
  const double least = limits.mostly * accused.outlier.excess;
  if (accused.outlier.host_time) {
    if (accused.gc >= least) return Cause::kGc;
    return accused.dataloader >= least ? Cause::kDataLoader : Cause::kHostSlow;
  }
  // The time of a host that computes holds its collections and batches; that of a device does not.
  if (peers.on_device && accused.compute >= least) return Cause::kComputeSlow;
  if (accused.gc >= least) return Cause::kGc;
  if (accused.dataloader >= least) return Cause::kDataLoader;
  if (accused.compute >= least) return Cause::kComputeSlow;
  const auto& pieces = peers.pieces[accused.outlier.entity];
  const bool told = std::any_of(pieces.begin(), pieces.end(),
                                [](const OwnPieces& each) { return each.compute > 0; });
  return told ? Cause::kHostSlow : Cause::kUnknown;
}

Suspect SuspectOf(const JobView& view, const Peers& peers, const Outlier& outlier,
                  const AccountLimits& limits) {
  Suspect suspect;
  Accused& accused = suspect.accused;
  accused.outlier = outlier;
  if (!outlier.host_time) {
    accused.compute = Beyond(peers, outlier, [](const OwnPieces& p) { return p.compute; });
  }
  accused.gc = Beyond(peers, outlier, [](const OwnPieces& p) { return p.gc; });
  accused.dataloader = Beyond(peers, outlier, [](const OwnPieces& p) { return p.dataloader; });
  CompareWork(peers, outlier, accused);
  AccountShare& share = accused.share;
  const RankId rank = peers.ranks[outlier.entity];
  share.entity.ranks = {rank};
  share.entity.node = NodeOf(view, rank);
  share.cause = CauseOfRank(accused, peers, limits);
  const double longer = outlier.usual > 0 ? outlier.excess / outlier.usual : 0;
  if (share.cause == Cause::kComputeSlow && limits.WorkExplains(accused.work_ratio, longer)) {
    share.cause = Cause::kImbalance;
    share.entity.type = EntityType::kGroup;
  }
  suspect.ranks = {outlier.entity};
  DateShare(outlier, peers.iterations, share);
  return suspect;
}

// A live job is looked at after every few iterations: what one look would take for more than chance
// comes about by chance in the course of a day.
bool IsChanceLive(const Suspect& suspect, const AccountLimits& limits) {
  const Outlier& outlier = suspect.accused.outlier;
  if (outlier.lasting || outlier.single || outlier.chance <= limits.chance_live) return false;
  const bool far = outlier.excess >= limits.ranks.recurring_contrast * outlier.next;
  const double most =
      suspect.accused.share.every > 1 ? limits.chance_live_periodic : limits.chance_live_far;
  return !far || outlier.chance > most;
}

// A node all of whose ranks are slow, where there are others. That they may have more work in
// common is ruled out where their kernels tell that they have as much as their peers.
void JoinNodes(const JobView& view, const Peers& peers, std::vector<Suspect>& suspects) {
  std::map<std::string, std::set<std::size_t>> on_node;
  for (std::size_t r = 0; r < peers.ranks.size(); ++r) {
    on_node[NodeOf(view, peers.ranks[r])].insert(r);
  }
  if (on_node.size() < 2) return;
  for (const auto& [node, ranks] : on_node) {
    if (node.empty() || ranks.size() < 2) continue;
    std::vector<std::size_t> of_node;
    for (std::size_t s = 0; s < suspects.size(); ++s) {
      const bool here = suspects[s].ranks.size() == 1 && ranks.contains(suspects[s].ranks.front());
      if (here) of_node.push_back(s);
    }
    if (of_node.size() < ranks.size()) continue;
    Suspect joined = suspects[of_node.front()];
    const bool work_told = std::all_of(of_node.begin(), of_node.end(), [&](std::size_t s) {
      return suspects[s].accused.work == WorkKind::kBlocks;
    });
    if (work_told) joined.accused.common = false;
    joined.ranks.assign(ranks.begin(), ranks.end());
    Entity& entity = joined.accused.share.entity;
    entity.type = EntityType::kHost;
    entity.node = node;
    entity.ranks.clear();
    for (const std::size_t r : ranks) entity.ranks.push_back(peers.ranks[r]);
    for (auto s = of_node.rbegin(); s != of_node.rend(); ++s) {
      suspects.erase(suspects.begin() + static_cast<std::ptrdiff_t>(*s));
    }
    suspects.push_back(std::move(joined));
  }
}

// More work is a matter of the model: all ranks that have it are told as one.
void JoinImbalance(std::vector<Suspect>& suspects) {
  std::optional<Suspect> joined;
  for (const Suspect& each : suspects) {
    if (each.accused.share.cause != Cause::kImbalance) continue;
    if (!joined) {
      joined = each;
      continue;
    }
    joined->ranks.insert(joined->ranks.end(), each.ranks.begin(), each.ranks.end());
    auto& ranks = joined->accused.share.entity.ranks;
    ranks.insert(ranks.end(), each.accused.share.entity.ranks.begin(),
                 each.accused.share.entity.ranks.end());
  }
  if (!joined) return;
  std::erase_if(suspects,
                [](const Suspect& each) { return each.accused.share.cause == Cause::kImbalance; });
  std::sort(joined->accused.share.entity.ranks.begin(), joined->accused.share.entity.ranks.end());
  joined->accused.share.entity.node.clear();
  suspects.push_back(*std::move(joined));
}

// Ranks that make up most of a communicator and are slow alike: something that they share, or more
// work for all of them.
void FindCommon(const JobView& view, const AccountLimits& limits, std::vector<Suspect>& suspects) {
  std::map<RankId, Suspect*> of_rank;
  for (Suspect& suspect : suspects) {
    const Entity& entity = suspect.accused.share.entity;
    if (suspect.channels.empty() && entity.ranks.size() == 1)
      of_rank[entity.ranks.front()] = &suspect;
  }
  for (const Group& group : view.groups) {
    if (group.members.size() < 2 || group.members.size() >= view.world_size) continue;
    std::vector<Suspect*> found;
    double least = 0, most = 0;
    for (const RankId rank : group.members) {
      const auto at = of_rank.find(rank);
      if (at == of_rank.end()) continue;
      const double excess = at->second->accused.outlier.excess;
      least = found.empty() ? excess : std::min(least, excess);
      most = std::max(most, excess);
      found.push_back(at->second);
    }
    const bool mostly = found.size() > 1 && 2 * found.size() > group.members.size();
    if (!mostly || most > limits.alike_ratio * least) continue;
    for (Suspect* suspect : found) suspect->accused.common = true;
  }
}

std::size_t ShowsPlayed(const Outlier& outlier, const Peers& peers,
                        const std::vector<Iteration>& played) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    const bool rows = std::find(played.begin(), played.end(), peers.iterations[i]) != played.end();
    count += outlier.in[i] && rows ? 1 : 0;
  }
  return count;
}

// Ranks end a stretch together, and need not do so with each of its iterations: one in which they
// do not meet is shorter for those that wait later.
double MeasuredSeconds(const JobView& view, const std::vector<LaneGraph>& stretches) {
  double sum = 0;
  for (const LaneGraph& graph : stretches) {
    std::map<RankId, double> of_rank;
    for (std::size_t l = 0; l < graph.lanes.size(); ++l) {
      of_rank[graph.lanes[l].rank] = graph.late[l];
    }
    for (const IterationSummary& it : view.window) {
      const auto& played = graph.iterations;
      if (!std::binary_search(played.begin(), played.end(), it.index)) continue;
      for (const RankIteration& rank : it.ranks) of_rank[rank.rank] += rank.duration.Seconds();
    }
    std::vector<double> seconds;
    for (const auto& [rank, whole] : of_rank) seconds.push_back(whole);
    sum += Median(std::move(seconds));
  }
  return sum;
}

}  // namespace

std::optional<Accounting> AccountFor(const JobView& view, const ExecutionGraph& graph,
                                     const AccountLimits& limits, const Topology* topology) {
  const std::vector<LaneGraph> stretches = BuildLanes(view, graph);
  std::vector<Iteration> played;
  for (const LaneGraph& each : stretches) {
    played.insert(played.end(), each.iterations.begin(), each.iterations.end());
  }
  if (played.size() < kFewestIterations) return std::nullopt;
  const Peers peers = PeersOf(view, kMostIterations);
  const double iteration_s = MedianIterationOf(view, kMostIterations);
  const Outliers of_ranks = OutliersOfRanks(peers, iteration_s, limits);
  const Channels channels = ChannelsOf(view, stretches);
  const OutlierTable table{channels.seconds, channels.family, iteration_s};
  const Outliers of_channels = FindOutliers(table, limits.channels);
  std::vector<Suspect> suspects, once;
  for (const Outlier& outlier : of_ranks.found) {
    Suspect suspect = SuspectOf(view, peers, outlier, limits);
    Accused& accused = suspect.accused;
    accused.shows_played = ShowsPlayed(outlier, peers, played);
    const Cause cause = accused.share.cause;
    accused.once = outlier.single && cause != Cause::kGc && cause != Cause::kDataLoader;
    const bool live = view.iterations_seen > 0;
    if (live && (accused.once || IsChanceLive(suspect, limits))) continue;
    (accused.once ? once : suspects).push_back(std::move(suspect));
  }
  JoinImbalance(suspects);
  FindCommon(view, limits, suspects);
  JoinNodes(view, peers, suspects);
  for (Suspect& suspect : SlowChannels(view, channels, of_channels, played, limits, topology)) {
    suspects.push_back(std::move(suspect));
  }
  std::move(once.begin(), once.end(), std::back_inserter(suspects));
  for (Suspect& suspect : suspects) {
    suspect.accused.share.owner = OwnerOf(suspect.accused.share.cause);
  }
  Counterfactual world(stretches, peers, of_ranks, channels, of_channels);
  Accounting out = ShareLoss(world, peers.ranks.size(), std::move(suspects), limits);
  out.account.measured_s = MeasuredSeconds(view, stretches);
  out.differ = PairsThatDiffer(peers, iteration_s, limits);
  double unknown_waits = 0;
  for (const LaneGraph& each : stretches) unknown_waits += each.unknown_waits;
  out.partners_unknown = unknown_waits > limits.least_cost * out.account.used_gpu_s;
  if (out.partners_unknown) {
    std::erase_if(out.account.shares, [](const AccountShare& share) { return share.hidden; });
  }
  out.replayed_well = std::abs(out.account.replayed_s - out.account.measured_s) <=
                      limits.replay_error * out.account.measured_s;
  return out;
}

}  // namespace fathom::diagnosis
