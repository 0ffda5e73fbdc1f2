#include "diagnosis/peers/pair_outlier.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kMany = 12;

class Pair {
 public:
  Pair(const OutlierTable& table, const OutlierLimits& limits)
      : seconds_(table.seconds), limits_(limits), iteration_s_(table.iteration_s) {
    for (std::size_t i = 0; i < seconds_[0].size(); ++i) {
      const double apart = seconds_[0][i] - seconds_[1][i];
      if (!std::isnan(apart)) known_.push_back(apart);
    }
  }

  bool Enough() const { return known_.size() >= limits_.least_part; }

  // Fills `out` for the one that takes more; false where neither does often enough.
  bool Find(Outlier& out) const {
    const std::size_t entity = Median(known_) >= 0 ? 0 : 1;
    if (Lasts(entity, out) || Recurs(entity, out)) return true;
    return Recurs(1 - entity, out);
  }

 private:
  double Sign(std::size_t entity) const { return entity == 0 ? 1 : -1; }

  double LargestOfOther(std::size_t entity) const {
    double largest = 0;
    for (const double apart : known_) largest = std::max(largest, -Sign(entity) * apart);
    return largest;
  }

  // Few differences lie close together by chance too: then their whole range counts.
  double Spread() const {
    const double spread = MadSigma(known_, Median(known_));
    if (known_.size() >= kMany) return spread;
    const auto [least, most] = std::minmax_element(known_.begin(), known_.end());
    return std::max(spread, (*most - *least) / 2);
  }

  bool Lasts(std::size_t entity, Outlier& out) const {
    const double excess = Sign(entity) * Median(known_);
    const double spread = std::max(Spread(), limits_.noise_floor * iteration_s_);
    Mark(entity, excess / 2, out);
    out.lasting = true;
    if (excess < limits_.least_share * iteration_s_) return false;
    const auto needed = limits_.shows_share * static_cast<double>(out.iterations);
    if (static_cast<double>(out.shows) < needed) return false;
    return excess >= limits_.lasting_sigmas * spread || NoChance(out);
  }

  bool Recurs(std::size_t entity, Outlier& out) const {
    const double least = limits_.recurring_share * iteration_s_;
    Mark(entity, std::max(least, limits_.recurring_contrast * LargestOfOther(entity)), out);
    out.lasting = false;
    return NoChance(out);
  }

  bool NoChance(const Outlier& out) const {
    return out.shows >= limits_.least_iterations && out.chance <= limits_.stretch_chance &&
           out.excess >= limits_.recurring_contrast * out.next;
  }

  void Mark(std::size_t entity, double limit, Outlier& out) const {
    out = {};
    out.entity = entity;
    out.peers = 1;
    out.iterations = known_.size();
    out.last = seconds_[0].size();
    out.next = LargestOfOther(entity);
    std::vector<double> shown, usual;
    for (std::size_t i = 0; i < seconds_[0].size(); ++i) {
      const double apart = Sign(entity) * (seconds_[0][i] - seconds_[1][i]);
      out.in.push_back(!std::isnan(apart) && apart >= limit);
      if (!out.in.back()) continue;
      shown.push_back(apart);
      usual.push_back(seconds_[1 - entity][i]);
    }
    out.shows = shown.size();
    out.excess = Median(std::move(shown));
    out.usual = Median(std::move(usual));
    out.chance = std::pow(2.0, 1 - static_cast<double>(out.shows));
  }

  const std::vector<std::vector<double>>& seconds_;
  const OutlierLimits& limits_;
  const double iteration_s_;
  std::vector<double> known_;  // the first's less the second's
};

}  // namespace

Outliers OutlierOfPair(const OutlierTable& table, const OutlierLimits& limits) {
  Outliers out;
  out.reference.assign(
      2, std::vector<double>(table.seconds[0].size(), std::numeric_limits<double>::quiet_NaN()));
  const Pair pair(table, limits);
  Outlier found;
  if (!pair.Enough() || !pair.Find(found)) return out;
  out.reference[found.entity] = table.seconds[1 - found.entity];
  out.found.push_back(std::move(found));
  return out;
}

}  // namespace fathom::diagnosis
