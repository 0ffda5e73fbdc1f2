#include "diagnosis/ledger/accounting.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "diagnosis/evidence/odd_place.h"
#include "diagnosis/evidence/phrase.h"
#include "diagnosis/ledger/channels.h"
#include "diagnosis/ledger/counterfactual.h"
#include "diagnosis/ledger/lanes.h"
#include "diagnosis/ledger/peers.h"
#include "diagnosis/ledger/rank_outliers.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kFewestIterations = 2;
// Longer windows are of live jobs, whose older iterations may have been others.
constexpr std::size_t kMostIterations = 64;

// An entity, and which rows of the peers and channels are its pieces.
struct Suspect {
  Accused accused;
  std::vector<std::size_t> ranks;
  std::vector<std::size_t> channels;
};

// The iterations in which it shows: since when, until when, and whether in every so many.
void DateShare(const Outlier& outlier, const std::vector<Iteration>& iterations,
               AccountShare& share) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    if (outlier.in[i]) at.push_back(i);
  }
  if (at.empty()) return;
  share.since = iterations[at.front()];
  share.until = iterations[at.back()];
  const std::size_t gap = at.size() > 1 ? at[1] - at[0] : 0;
  bool periodic = at.size() > 2 && gap > 1;
  for (std::size_t k = 1; k < at.size(); ++k) periodic = periodic && at[k] - at[k - 1] == gap;
  if (periodic) share.every = static_cast<std::int64_t>(gap);
  if (outlier.lasting) {
    share.since = iterations[outlier.first];
    share.from_start = outlier.first <= 1;
    share.every = 0;
  } else {
    share.from_start = at.front() == 0 || (periodic && at.front() < gap);
  }
}

// The median, over the iterations in which it shows, of what it takes beyond its peers' median.
template <typename Part>
double Beyond(const Peers& peers, const Outlier& outlier, const Part& part) {
  std::vector<double> beyond;
  const std::size_t role = peers.role[outlier.entity];
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    if (!outlier.in[i]) continue;
    std::vector<double> others;
    for (std::size_t r = 0; r < peers.ranks.size(); ++r) {
      const OwnPieces& pieces = peers.pieces[r][i];
      if (r != outlier.entity && peers.role[r] == role && pieces.known) {
        others.push_back(part(pieces));
      }
    }
    beyond.push_back(part(peers.pieces[outlier.entity][i]) - Median(std::move(others)));
  }
  return Median(std::move(beyond));
}

double WorkRatio(const Peers& peers, const Outlier& outlier) {
  std::vector<double> ratios;
  const std::size_t role = peers.role[outlier.entity];
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    std::vector<double> others;
    for (std::size_t r = 0; r < peers.ranks.size(); ++r) {
      if (r != outlier.entity && peers.role[r] == role) {
        others.push_back(peers.pieces[r][i].work);
      }
    }
    const double usual = Median(std::move(others));
    if (outlier.in[i] && usual > 0) {
      ratios.push_back(peers.pieces[outlier.entity][i].work / usual);
    }
  }
  return ratios.empty() ? 1 : Median(std::move(ratios));
}

Cause CauseOfRank(const Accused& accused, const Peers& peers, const AccountLimits& limits) {
  const double least = limits.mostly * accused.outlier.excess;
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
  accused.compute = Beyond(peers, outlier, [](const OwnPieces& p) { return p.compute; });
  accused.gc = Beyond(peers, outlier, [](const OwnPieces& p) { return p.gc; });
  accused.dataloader = Beyond(peers, outlier, [](const OwnPieces& p) { return p.dataloader; });
  accused.work_ratio = WorkRatio(peers, outlier);
  AccountShare& share = accused.share;
  const RankId rank = peers.ranks[outlier.entity];
  share.entity.ranks = {rank};
  share.entity.node = NodeOf(view, rank);
  share.cause = CauseOfRank(accused, peers, limits);
  const double longer = outlier.usual > 0 ? outlier.excess / outlier.usual : 0;
  if (share.cause == Cause::kComputeSlow &&
      accused.work_ratio - 1 >= limits.work_explains * longer) {
    share.cause = Cause::kImbalance;
    share.entity.type = EntityType::kGroup;
  }
  suspect.ranks = {outlier.entity};
  DateShare(outlier, peers.iterations, share);
  return suspect;
}

// A node all of whose ranks are slow by their hosts, where there are others.
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
  std::erase_if(suspects, [](const Suspect& each) {
    return each.accused.share.cause == Cause::kImbalance;
  });
  std::sort(joined->accused.share.entity.ranks.begin(), joined->accused.share.entity.ranks.end());
  joined->accused.share.entity.node.clear();
  suspects.push_back(*std::move(joined));
}

// Ranks that make up whole communicators and are slow alike: something that they share, or more
// work for all of them.
void FindCommon(const JobView& view, const AccountLimits& limits, std::vector<Suspect>& suspects) {
  std::map<RankId, Suspect*> of_rank;
  for (Suspect& suspect : suspects) {
    const Entity& entity = suspect.accused.share.entity;
    if (suspect.channels.empty() && entity.ranks.size() == 1) of_rank[entity.ranks.front()] = &suspect;
  }
  for (const Group& group : view.groups) {
    if (group.members.size() < 2 || group.members.size() >= view.world_size) continue;
    double least = 0, most = 0;
    bool all = true;
    for (const RankId rank : group.members) {
      const auto at = of_rank.find(rank);
      all = all && at != of_rank.end();
      if (!all) break;
      const double excess = at->second->accused.outlier.excess;
      least = least == 0 ? excess : std::min(least, excess);
      most = std::max(most, excess);
    }
    if (!all || most > limits.alike_ratio * least) continue;
    for (const RankId rank : group.members) of_rank[rank]->accused.common = true;
  }
}

// Slow channels, told by what they have in common; each by itself where that is nothing.
class ChannelSuspects {
 public:
  ChannelSuspects(const JobView& view, const Channels& channels, const Outliers& outliers,
                  const std::vector<Iteration>& iterations, const AccountLimits& limits)
      : view_(view), channels_(channels), iterations_(iterations) {
    for (const Outlier& outlier : outliers.found) {
      const double ratio = 1 + outlier.excess / std::max(outlier.usual, 1e-9);
      const bool sure = Sure(outlier);
      if (!sure && !NodesKnown(outlier)) continue;
      if (ratio >= (sure ? limits.channel_ratio : limits.sure_ratio)) found_.push_back(&outlier);
    }
  }

  std::vector<Suspect> All() {
    std::vector<Suspect> out;
    if (found_.empty()) return out;
    std::vector<OddGroup> odd;
    for (const Outlier* outlier : found_) odd.push_back(OddOf(*outlier));
    std::optional<OddPlace> place = PlaceOfOdd(view_, odd, Well());
    if (place) {
      out.push_back(At(*place, found_));
      return out;
    }
    out.push_back(At(OfAll(odd), found_));
    return out;
  }

 private:
  // Else what crosses nodes is compared with what does not.
  bool NodesKnown(const Outlier& outlier) const {
    return !NodesOf(view_, channels_.groups[outlier.entity].members).contains("");
  }

  // Most of those like it are well: else the wires may differ by design.
  bool Sure(const Outlier& outlier) const {
    const std::size_t family = channels_.family[outlier.entity];
    const auto members = std::count(channels_.family.begin(), channels_.family.end(), family);
    return 2 * outlier.peers > static_cast<std::size_t>(members) && outlier.peers > 1;
  }

  // What they have in common cannot be told: all of their ranks.
  OddPlace OfAll(const std::vector<OddGroup>& odd) const {
    std::set<RankId> ranks;
    for (const OddGroup& each : odd) {
      ranks.insert(each.group->members.begin(), each.group->members.end());
    }
    OddPlace place;
    place.entity.type = EntityType::kGroup;
    place.entity.ranks.assign(ranks.begin(), ranks.end());
    place.where = absl::StrFormat("of %d channels of %s", odd.size(), RanksInWords(place.entity.ranks));
    return place;
  }

  OddGroup OddOf(const Outlier& outlier) const {
    OddGroup odd;
    odd.group = &channels_.groups[outlier.entity];
    odd.mine = outlier.usual + outlier.excess;
    odd.usual = outlier.usual;
    odd.next = outlier.usual + outlier.next;
    odd.lost = outlier.excess;
    odd.siblings = outlier.peers;
    odd.sure = true;
    odd.iterations = outlier.iterations;
    return odd;
  }

  // Of the families in which one was found.
  std::vector<const Group*> Well() const {
    std::set<std::size_t> families, found;
    for (const Outlier* outlier : found_) {
      families.insert(channels_.family[outlier->entity]);
      found.insert(outlier->entity);
    }
    std::vector<const Group*> well;
    for (std::size_t c = 0; c < channels_.groups.size(); ++c) {
      if (families.contains(channels_.family[c]) && !found.contains(c)) {
        well.push_back(&channels_.groups[c]);
      }
    }
    return well;
  }

  Suspect At(const OddPlace& place, const std::vector<const Outlier*>& outliers) const {
    Suspect suspect;
    Accused& accused = suspect.accused;
    accused.outlier = *outliers.front();
    accused.where = place.where;
    accused.victims = place.victims;
    accused.share.entity = place.entity;
    accused.share.cause = place.cause;
    for (const Outlier* outlier : outliers) suspect.channels.push_back(outlier->entity);
    if (outliers.size() == 1 && channels_.pair[outliers.front()->entity]) NameLink(accused);
    DateShare(accused.outlier, iterations_, accused.share);
    return suspect;
  }

  static void NameLink(Accused& accused) {
    Entity& entity = accused.share.entity;
    entity.type = EntityType::kLink;
    entity.link_src = std::to_string(entity.ranks.front().value);
    entity.link_dst = std::to_string(entity.ranks.back().value);
    accused.share.cause = Cause::kLinkSlow;
    accused.where = "between " + RanksInWords(entity.ranks);
  }

  const JobView& view_;
  const Channels& channels_;
  const std::vector<Iteration>& iterations_;
  std::vector<const Outlier*> found_;
};

class Sharing {
 public:
  Sharing(Counterfactual& world, std::size_t ranks, std::vector<Suspect> suspects)
      : world_(world), ranks_(static_cast<double>(ranks)), suspects_(std::move(suspects)) {}

  Accounting Share(const AccountLimits& limits) {
    const double recorded = world_.Seconds(world_.None());
    const double ideal = std::min(recorded, world_.Seconds(world_.All()));
    for (Suspect& suspect : suspects_) Ask(recorded, ideal, suspect);
    Accounting out;
    Account& account = out.account;
    account.iterations = static_cast<std::int64_t>(world_.iterations());
    account.replayed_s = recorded;
    account.used_gpu_s = recorded * ranks_;
    account.ideal_gpu_s = ideal * ranks_;
    account.lost_gpu_s = account.used_gpu_s - account.ideal_gpu_s;
    const double left = TakeOut(recorded, ideal, limits, out);
    account.unexplained_gpu_s = (left - ideal) * ranks_;
    for (Suspect& suspect : suspects_) {
      suspect.accused.share.hidden = true;
      out.accused.push_back(std::move(suspect.accused));
    }
    std::stable_sort(out.accused.begin(), out.accused.end(), [](const Accused& a, const Accused& b) {
      return a.share.lost_gpu_s > b.share.lost_gpu_s;
    });
    for (const Accused& accused : out.accused) account.shares.push_back(accused.share);
    return out;
  }

 private:
  static void Put(const Suspect& suspect, bool value, Counterfactual::Repaired& repaired) {
    for (const std::size_t rank : suspect.ranks) repaired.ranks[rank] = value;
    for (const std::size_t channel : suspect.channels) repaired.channels[channel] = value;
  }

  void Ask(double recorded, double ideal, Suspect& suspect) {
    const auto count = static_cast<double>(std::max<std::size_t>(world_.iterations(), 1));
    Counterfactual::Repaired repaired = world_.None();
    Put(suspect, true, repaired);
    suspect.accused.share.gain_s_per_iteration = (recorded - world_.Seconds(repaired)) / count;
    repaired = world_.All();
    Put(suspect, false, repaired);
    suspect.accused.share.alone_s_per_iteration =
        std::max(0.0, world_.Seconds(repaired) - ideal) / count;
  }

  // What the iterations take with these suspects, as bits of `which`, and those before repaired.
  double With(const Counterfactual::Repaired& before, std::size_t which) {
    Counterfactual::Repaired repaired = before;
    for (std::size_t s = 0; s < suspects_.size(); ++s) {
      if ((which >> s & 1) != 0) Put(suspects_[s], true, repaired);
    }
    return world_.Seconds(repaired);
  }

  // Those that cost most alone, up to kShared of them, share what they cost together by Shapley's
  // rule: of two that are slow alike, mending either wins nothing. Then the rest, likewise.
  double TakeOut(double recorded, double ideal, const AccountLimits& limits, Accounting& out) {
    std::stable_sort(suspects_.begin(), suspects_.end(), [](const Suspect& a, const Suspect& b) {
      return a.accused.share.alone_s_per_iteration > b.accused.share.alone_s_per_iteration;
    });
    Counterfactual::Repaired repaired = world_.None();
    double now = recorded;
    std::vector<Suspect> hidden;
    while (!suspects_.empty()) {
      std::vector<Suspect> later;
      const std::size_t count = std::min(kShared, suspects_.size());
      later.assign(suspects_.begin() + static_cast<std::ptrdiff_t>(count), suspects_.end());
      suspects_.resize(count);
      now = ShareAmong(repaired, recorded, ideal, limits, now, hidden, out);
      suspects_ = std::move(later);
    }
    suspects_ = std::move(hidden);
    return now;
  }

  double ShareAmong(Counterfactual::Repaired& repaired, double recorded, double ideal,
                    const AccountLimits& limits, double now, std::vector<Suspect>& hidden,
                    Accounting& out) {
    const std::size_t count = suspects_.size();
    std::vector<double> seconds(std::size_t{1} << count, now);
    for (std::size_t which = 1; which < seconds.size(); ++which) {
      seconds[which] = std::clamp(With(repaired, which), ideal, now);
    }
    const std::vector<double> won = ShapleyOf(seconds, count);
    const double worth = limits.least_cost / 4 * recorded;
    double left = now;
    for (std::size_t s = 0; s < count; ++s) {
      if (won[s] < worth) {
        hidden.push_back(std::move(suspects_[s]));
        continue;
      }
      Accused& accused = suspects_[s].accused;
      accused.share.lost_gpu_s = won[s] * ranks_;
      accused.loss_share = won[s] / recorded;
      left -= won[s];
      Put(suspects_[s], true, repaired);
      out.accused.push_back(std::move(accused));
    }
    return left;
  }

  // What each of `count` wins in the mean over all orders; seconds by the set that is repaired.
  static std::vector<double> ShapleyOf(const std::vector<double>& seconds, std::size_t count) {
    std::vector<double> factorial(count + 1, 1);
    for (std::size_t k = 1; k <= count; ++k) factorial[k] = factorial[k - 1] * static_cast<double>(k);
    std::vector<double> won(count, 0);
    for (std::size_t which = 0; which < seconds.size(); ++which) {
      const auto in = static_cast<std::size_t>(std::popcount(which));
      for (std::size_t s = 0; s < count; ++s) {
        if ((which >> s & 1) != 0) continue;
        const double weight = factorial[in] * factorial[count - in - 1] / factorial[count];
        won[s] += weight * (seconds[which] - seconds[which | std::size_t{1} << s]);
      }
    }
    return won;
  }

  static constexpr std::size_t kShared = 4;

  Counterfactual& world_;
  const double ranks_;
  std::vector<Suspect> suspects_;
};

double MeasuredSeconds(const JobView& view, const std::vector<LaneGraph>& stretches) {
  std::set<Iteration> played;
  for (const LaneGraph& graph : stretches) {
    played.insert(graph.iterations.begin(), graph.iterations.end());
  }
  double sum = 0;
  for (const IterationSummary& it : view.window) {
    if (!played.contains(it.index)) continue;
    std::vector<double> seconds;
    for (const RankIteration& rank : it.ranks) seconds.push_back(rank.duration.Seconds());
    sum += Median(std::move(seconds));
  }
  return sum;
}

}  // namespace

std::optional<Accounting> AccountFor(const JobView& view, const ExecutionGraph& graph,
                                     const AccountLimits& limits) {
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
  std::vector<Suspect> suspects;
  for (const Outlier& outlier : of_ranks.found) {
    suspects.push_back(SuspectOf(view, peers, outlier, limits));
    const Cause cause = suspects.back().accused.share.cause;
    const bool marked = cause == Cause::kGc || cause == Cause::kDataLoader;
    if (outlier.single && !marked) suspects.pop_back();
  }
  JoinImbalance(suspects);
  JoinNodes(view, peers, suspects);
  FindCommon(view, limits, suspects);
  ChannelSuspects slow(view, channels, of_channels, played, limits);
  for (Suspect& suspect : slow.All()) suspects.push_back(std::move(suspect));
  for (Suspect& suspect : suspects) {
    suspect.accused.share.owner = OwnerOf(suspect.accused.share.cause);
  }
  Counterfactual world(stretches, peers, of_ranks, channels, of_channels);
  Accounting out = Sharing(world, peers.ranks.size(), std::move(suspects)).Share(limits);
  out.account.measured_s = MeasuredSeconds(view, stretches);
  out.differ = PairsThatDiffer(peers, iteration_s, limits);
  return out;
}

}  // namespace fathom::diagnosis
