#include "diagnosis/ledger/counterfactual.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace fathom::diagnosis {
namespace {

// A piece never becomes longer or shorter than this by being at its reference: what is left of an
// iteration that was hardly own time at all would else be scaled without bounds.
constexpr double kLeastFactor = 0.02;
constexpr double kMostFactor = 4;

double FactorOf(double seconds, double wall, double reference) {
  if (std::isnan(reference) || std::isnan(seconds) || wall <= 0) return 1;
  return std::clamp(1 - (seconds - reference) / wall, kLeastFactor, kMostFactor);
}

double OwnFactor(const Peers& peers, const Outliers& of_ranks, std::size_t rank, std::size_t i) {
  const OwnPieces& pieces = peers.pieces[rank][i];
  return FactorOf(pieces.own, pieces.wall, of_ranks.reference[rank][i]);
}

}  // namespace

Counterfactual::Counterfactual(const std::vector<LaneGraph>& stretches, const Peers& peers,
                               const Outliers& of_ranks, const Channels& channels,
                               const Outliers& of_channels)
    : ranks_(peers.ranks.size()), channels_(channels.groups.size()) {
  for (const LaneGraph& graph : stretches) {
    Stretch stretch{&graph, LaneReplay(graph), {}, {}, {}, {}, {}};
    stretch.channel.assign(graph.joins.size(), kNoJoin);
    stretch.transfer_factor.assign(graph.joins.size(), 1);
    stretches_.push_back(std::move(stretch));
    iterations_ += graph.iterations.size();
  }
  LearnOwn(stretches, peers, of_ranks);
  LearnTransfers(channels, of_channels);
}

void Counterfactual::LearnOwn(const std::vector<LaneGraph>& stretches, const Peers& peers,
                              const Outliers& of_ranks) {
  std::map<Iteration, std::size_t> place;
  for (std::size_t i = 0; i < peers.iterations.size(); ++i) place[peers.iterations[i]] = i;
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    for (const Lane& lane : stretches[s].lanes) {
      const auto at = std::lower_bound(peers.ranks.begin(), peers.ranks.end(), lane.rank);
      const auto rank = static_cast<std::size_t>(at - peers.ranks.begin());
      std::vector<double>& factors = stretches_[s].factor.emplace_back();
      for (const Iteration it : stretches[s].iterations) {
        const auto known = place.find(it);
        factors.push_back(known == place.end() ? 1
                                               : OwnFactor(peers, of_ranks, rank, known->second));
      }
      stretches_[s].rank.push_back(rank);
    }
  }
}

void Counterfactual::LearnTransfers(const Channels& channels, const Outliers& of_channels) {
  std::vector<std::size_t> first;
  std::size_t iterations = 0;
  for (const Stretch& stretch : stretches_) {
    first.push_back(iterations);
    iterations += stretch.graph->iterations.size();
  }
  for (std::size_t c = 0; c < channels.joins.size(); ++c) {
    for (const auto& [s, j] : channels.joins[c]) {
      const std::size_t i = first[s] + stretches_[s].graph->joins[j].iteration;
      const double seconds = channels.seconds[c][i];
      stretches_[s].channel[j] = c;
      stretches_[s].transfer_factor[j] = FactorOf(seconds, seconds, of_channels.reference[c][i]);
    }
  }
}

Counterfactual::Repaired Counterfactual::None() const {
  return {std::vector<bool>(ranks_, false), std::vector<bool>(channels_, false)};
}

Counterfactual::Repaired Counterfactual::All() const {
  return {std::vector<bool>(ranks_, true), std::vector<bool>(channels_, true)};
}

double Counterfactual::Seconds(const Repaired& repaired) {
  double sum = 0;
  for (Stretch& stretch : stretches_) {
    const std::size_t iterations = stretch.graph->iterations.size();
    stretch.scales.own.resize(stretch.rank.size());
    for (std::size_t l = 0; l < stretch.rank.size(); ++l) {
      if (repaired.ranks[stretch.rank[l]]) {
        stretch.scales.own[l] = stretch.factor[l];
      } else {
        stretch.scales.own[l].assign(iterations, 1.0);
      }
    }
    stretch.scales.transfer.assign(stretch.transfer_factor.size(), 1.0);
    for (std::size_t j = 0; j < stretch.channel.size(); ++j) {
      if (stretch.channel[j] == kNoJoin || !repaired.channels[stretch.channel[j]]) continue;
      stretch.scales.transfer[j] = stretch.transfer_factor[j];
    }
    const std::vector<double> ends = stretch.replay.Play(stretch.scales);
    sum += ends.empty() ? 0 : ends.back();
  }
  return sum;
}

}  // namespace fathom::diagnosis
