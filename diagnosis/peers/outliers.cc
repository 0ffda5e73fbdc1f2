#include "diagnosis/peers/outliers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "diagnosis/stats/binomial.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostFound = 64;
constexpr std::size_t kMostTried = 4;  // before the search ends: each costs a look at all others

using Rows = std::vector<std::vector<double>>;

std::vector<double> Known(const std::vector<double>& values) {
  std::vector<double> known;
  for (const double value : values) {
    if (!std::isnan(value)) known.push_back(value);
  }
  return known;
}

double MedianOfKnown(const std::vector<double>& values) { return Median(Known(values)); }

// Of sorted values without one that is equal to `left_out`; of all where that is NaN.
double QuantileWithout(const std::vector<double>& sorted, double left_out, double quantile) {
  const bool all = std::isnan(left_out);
  const std::size_t size = sorted.size() - (all ? 0 : 1);
  const auto gap = static_cast<std::size_t>(
      std::lower_bound(sorted.begin(), sorted.end(), left_out) - sorted.begin());
  const auto at = [&](std::size_t k) { return sorted[!all && k >= gap ? k + 1 : k]; };
  const double place = quantile * static_cast<double>(size - 1);
  const auto low = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(low);
  return part > 0 ? at(low) * (1 - part) + at(low + 1) * part : at(low);
}

// A stretch of iterations.
struct Part {
  std::size_t first = 0;
  std::size_t last = 0;  // behind the last
};

// The stretch whose excess over `level` sums to most.
Part LargestSum(const std::vector<double>& values, double level) {
  Part best;
  double most = 0, sum = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (sum <= 0) sum = 0, first = i;
    sum += std::isnan(values[i]) ? 0 : values[i] - level;
    if (sum > most) most = sum, best = {first, i + 1};
  }
  return best;
}

std::vector<double> PartOf(const std::vector<double>& values, const Part& part) {
  return {values.begin() + static_cast<std::ptrdiff_t>(part.first),
          values.begin() + static_cast<std::ptrdiff_t>(part.last)};
}

class Search {
 public:
  Search(const OutlierTable& table, const OutlierLimits& limits)
      : table_(table), limits_(limits), taken_(table.seconds.size(), false) {
    for (std::size_t e = 0; e < table.role.size(); ++e) of_role_[table.role[e]].push_back(e);
    for (const auto& [role, entities] : of_role_) left_[role] = entities.size();
    if (!table.seconds.empty()) iterations_ = table.seconds.front().size();
  }

  Outliers Find() {
    Outliers out;
    reference_.assign(table_.seconds.size(), std::vector<double>(iterations_, kUnknown));
    excess_ = reference_;
    for (const auto& [role, entities] : of_role_) Learn(entities);
    while (out.found.size() < kMostFound) {
      std::optional<Outlier> found = Next();
      if (!found) break;
      const std::size_t role = table_.role[found->entity];
      taken_[found->entity] = true;
      --left_[role];
      out.found.push_back(*std::move(found));
      Learn(of_role_.at(role));
    }
    out.reference = std::move(reference_);
    return out;
  }

 private:
  // References of those of a role from those of it that are not taken.
  void Learn(const std::vector<std::size_t>& entities) {
    for (std::size_t i = 0; i < iterations_; ++i) LearnIteration(entities, i);
  }

  void LearnIteration(const std::vector<std::size_t>& entities, std::size_t i) {
    std::vector<double> sorted;
    for (const std::size_t e : entities) {
      const double value = table_.seconds[e][i];
      if (!taken_[e] && !std::isnan(value)) sorted.push_back(value);
    }
    std::sort(sorted.begin(), sorted.end());
    for (const std::size_t e : entities) {
      const double mine = table_.seconds[e][i];
      const std::size_t others = sorted.size() - (taken_[e] || std::isnan(mine) ? 0 : 1);
      reference_[e][i] = excess_[e][i] = kUnknown;
      if (others < limits_.fewest_peers) continue;
      reference_[e][i] =
          QuantileWithout(sorted, taken_[e] ? kUnknown : mine, limits_.reference_quantile);
      excess_[e][i] = mine - reference_[e][i];
    }
  }

  double MeanExcess(std::size_t e) const {
    double sum = 0;
    std::size_t count = 0;
    for (const double value : excess_[e]) {
      if (std::isnan(value)) continue;
      sum += value;
      ++count;
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }

  // Who may be found, the largest mean excess first; not more than kMostTried.
  std::vector<std::size_t> Candidates() const {
    std::vector<std::pair<double, std::size_t>> by_mean;
    for (std::size_t e = 0; e < excess_.size(); ++e) {
      const double mean = taken_[e] ? 0 : MeanExcess(e);
      if (mean > 0) by_mean.emplace_back(-mean, e);
    }
    const std::size_t count = std::min(kMostTried, by_mean.size());
    std::partial_sort(by_mean.begin(), by_mean.begin() + static_cast<std::ptrdiff_t>(count),
                      by_mean.end());
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < count; ++i) candidates.push_back(by_mean[i].second);
    return candidates;
  }

  // One long iteration gives an entity a large mean, and says nothing of those behind it.
  std::optional<Outlier> Next() const {
    for (const std::size_t e : Candidates()) {
      std::optional<Outlier> found = Judge(e);
      if (found) return found;
    }
    return std::nullopt;
  }

  std::size_t PeersOf(std::size_t e) const {
    return left_.at(table_.role[e]) - (taken_[e] ? 0 : 1);
  }

  std::optional<Outlier> Judge(std::size_t e) const {
    Outlier out;
    out.entity = e;
    out.peers = PeersOf(e);
    out.in.assign(iterations_, false);
    for (const double value : excess_[e]) out.iterations += std::isnan(value) ? 0 : 1;
    if (out.iterations < limits_.least_iterations) return std::nullopt;
    out.usual = MedianOfKnown(reference_[e]);
    if (Lasts(e, {0, iterations_}, out)) return out;
    const Part part = LargestSum(excess_[e], Quantile(Known(excess_[e]), 0.9) / 2);
    const bool long_enough = part.last - part.first >= limits_.least_part;
    if (long_enough && Lasts(e, part, out) && !IsChance(e, out)) return out;
    if (Recurs(e, out)) return out;
    return std::nullopt;
  }

  // The medians of the others, without those few that are as bad: two may be at fault at once.
  std::vector<double> OthersThan(std::size_t e, double mine, const Part& part) const {
    std::vector<double> others;
    for (std::size_t other = 0; other < excess_.size(); ++other) {
      const bool judged = other != e && !taken_[other] && PeersOf(other) >= limits_.fewest_peers;
      if (judged) others.push_back(MedianOfKnown(PartOf(excess_[other], part)));
    }
    std::sort(others.begin(), others.end());
    const auto few =
        static_cast<std::size_t>(limits_.at_once * static_cast<double>(others.size() + 1));
    const auto bad = static_cast<std::size_t>(
        others.end() - std::upper_bound(others.begin(), others.end(), mine / limits_.contrast));
    if (bad <= few) others.resize(others.size() - bad);
    return others;
  }

  bool Lasts(std::size_t e, const Part& part, Outlier& out) const {
    const double mine = MedianOfKnown(PartOf(excess_[e], part));
    const std::vector<double> others = OthersThan(e, mine, part);
    const double floor = limits_.noise_floor * table_.iteration_s;
    const double spread = std::max(floor, MadSigma(others, Median(others)));
    const double error =
        SpreadOfSingles(e) / std::sqrt(static_cast<double>(part.last - part.first));
    const bool chosen = part.last - part.first < iterations_;
    const double factor = chosen ? limits_.part_factor : 1;
    if (mine < factor * limits_.single_sigmas * error) return false;
    const double next = others.empty() ? 0 : *std::max_element(others.begin(), others.end());
    if (mine < limits_.least_share * table_.iteration_s) return false;
    if (mine < factor * limits_.lasting_sigmas * spread || mine < limits_.contrast * next)
      return false;
    Mark(e, mine / 2, part, out);
    out.lasting = true;
    out.first = part.first;
    out.last = part.last;
    out.iterations = part.last - part.first;
    out.excess = mine;
    out.next = std::max(0.0, next);
    return static_cast<double>(out.shows) >=
           limits_.shows_share * static_cast<double>(out.iterations);
  }

  // Whether somebody would be expected to have so many large excesses in a row somewhere, if each
  // came by itself as often as those of the others do.
  bool IsChance(std::size_t e, const Outlier& found) const {
    std::size_t known = 0;
    for (std::size_t other = 0; other < excess_.size(); ++other) {
      if (other != e && !taken_[other]) known += Known(excess_[other]).size();
    }
    if (known == 0) return true;
    const auto large = static_cast<double>(CountOthers(e, found.excess / 2).first);
    const double rate = std::max(large, 0.5) / static_cast<double>(known);
    const auto places = static_cast<double>(excess_.size() * iterations_);
    return places * std::pow(rate, static_cast<double>(found.shows)) > limits_.stretch_chance;
  }

  // Of the excesses of the others, one by one; of few entities the medians alone tell no spread.
  double SpreadOfSingles(std::size_t e) const {
    std::vector<double> singles;
    for (std::size_t other = 0; other < excess_.size(); ++other) {
      if (other == e || taken_[other]) continue;
      for (const double value : excess_[other]) {
        if (!std::isnan(value)) singles.push_back(value);
      }
    }
    return MadSigma(singles, 0);
  }

  // The largest excess of the others, and the second largest.
  std::pair<double, double> LargestOfOthers(std::size_t e) const {
    double largest = 0, second = 0;
    for (std::size_t other = 0; other < excess_.size(); ++other) {
      if (other == e || taken_[other]) continue;
      for (const double value : excess_[other]) {
        if (std::isnan(value) || value <= second) continue;
        second = std::min(value, largest);
        largest = std::max(value, largest);
      }
    }
    return {largest, second};
  }

  // How many excesses of the others are so large, and how many others there are.
  std::pair<std::size_t, std::size_t> CountOthers(std::size_t e, double limit) const {
    std::size_t large = 0, others = 0;
    for (std::size_t other = 0; other < excess_.size(); ++other) {
      if (other == e || taken_[other]) continue;
      ++others;
      large +=
          static_cast<std::size_t>(std::count_if(excess_[other].begin(), excess_[other].end(),
                                                 [&](double value) { return value >= limit; }));
    }
    return {large, others};
  }

  void MarkRecurring(std::size_t e, double limit, Outlier& out) const {
    Mark(e, limit, {0, iterations_}, out);
    out.first = 0;
    out.last = iterations_;
    out.iterations = Known(excess_[e]).size();
    std::vector<double> shown;
    for (std::size_t i = 0; i < iterations_; ++i) {
      if (out.in[i]) shown.push_back(excess_[e][i]);
    }
    out.lasting = false;
    out.excess = Median(std::move(shown));
  }

  bool Recurs(std::size_t e, Outlier& out) const {
    const double least = limits_.recurring_share * table_.iteration_s;
    const auto [largest, second] = LargestOfOthers(e);
    MarkRecurring(e, std::max(limits_.contrast * largest, least), out);
    out.next = largest;
    if (StandsAlone(largest, out)) return true;
    MarkRecurring(e, std::max(limits_.contrast * second, least), out);
    out.next = second;
    if (StandsAloneButForOne(out)) return true;
    return Outnumbers(e, least, out);
  }

  // Of the k + 1 largest all but one are its own: the other, a checkpoint say, may be any of them.
  bool StandsAloneButForOne(Outlier& out) const {
    out.single = false;
    const auto entities = static_cast<double>(std::max<std::size_t>(excess_.size(), 2));
    const auto shows = static_cast<double>(out.shows);
    out.chance = (shows + 1) * std::pow(entities, 1 - shows);
    return out.shows >= limits_.least_iterations && out.chance <= limits_.recurring_chance;
  }

  // Others have such iterations too, now and then: that one has so many more of them is no chance.
  bool Outnumbers(std::size_t e, double least, Outlier& out) const {
    std::vector<double> own = Known(excess_[e]);
    if (own.size() < limits_.least_part) return false;
    std::sort(own.begin(), own.end(), std::greater<>());
    const double third = own[2];
    const double limit = std::max({third / 2, least, limits_.lasting_sigmas * SpreadOfSingles(e)});
    MarkRecurring(e, limit, out);
    const auto [large, others] = CountOthers(e, limit);
    out.next = large == 0 ? LargestOfOthers(e).first : limit;
    out.single = false;
    // A tail of noise has most of its values near any limit; what recurs is of one size.
    if (others == 0 || out.excess < limits_.one_size * third) return false;
    const auto entities = static_cast<double>(others + 1);
    out.chance = entities * BinomialTail(out.shows + large, out.shows, 1 / entities);
    return out.chance <= limits_.outnumbers_chance;
  }

  bool StandsAlone(double largest, Outlier& out) const {
    out.single = out.shows == 1 && out.excess >= limits_.single_contrast * largest;
    if (out.single) return true;
    if (out.shows < limits_.least_iterations) return false;
    const double entities = static_cast<double>(std::max<std::size_t>(excess_.size(), 2));
    out.chance = std::pow(entities, 1 - static_cast<double>(out.shows));
    if (out.excess >= limits_.recurring_contrast * largest) return true;
    return out.chance <= limits_.recurring_chance;
  }

  void Mark(std::size_t e, double limit, const Part& part, Outlier& out) const {
    out.shows = 0;
    for (std::size_t i = 0; i < iterations_; ++i) {
      out.in[i] =
          i >= part.first && i < part.last && !std::isnan(excess_[e][i]) && excess_[e][i] >= limit;
      out.shows += out.in[i] ? 1 : 0;
    }
  }

  const OutlierTable& table_;
  const OutlierLimits& limits_;
  std::map<std::size_t, std::vector<std::size_t>> of_role_;
  std::map<std::size_t, std::size_t> left_;  // of a role, those that are not taken
  std::size_t iterations_ = 0;
  std::vector<bool> taken_;
  Rows reference_, excess_;
};

}  // namespace

Outliers FindOutliers(const OutlierTable& table, const OutlierLimits& limits) {
  return Search(table, limits).Find();
}

}  // namespace fathom::diagnosis
