#include "diagnosis/watch/spikes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "diagnosis/model/lookup.h"
#include "diagnosis/model/rank_times.h"
#include "diagnosis/peers/account_limits.h"
#include "diagnosis/stats/binomial.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr std::int64_t kLate = 16;            // iterations that a rank's telling may come later
constexpr std::size_t kUsual = 5;             // regular iterations that tell what is usual
constexpr std::int64_t kLongestGaps = 3;      // without one: it is over
constexpr std::int64_t kRemembered = 10'000;  // iterations
constexpr std::int64_t kFewestBetween = 5;    // iterations of a period: fewer, and chance makes one

std::size_t MostRanks(const JobView& view) {
  std::size_t most = 0;
  for (const IterationSummary& it : view.window) most = std::max(most, it.ranks.size());
  return most;
}

const IterationSummary* SummaryOf(const JobView& view, Iteration index) {
  const auto at = std::lower_bound(view.window.begin(), view.window.end(), index,
                                   [](const auto& it, Iteration i) { return it.index < i; });
  return at == view.window.end() || at->index != index ? nullptr : &*at;
}

// The regular ones before point `place`; where there are too few, those behind it.
std::vector<const IterationSummary*> RegularAround(const JobView& view, const JobSeries& series,
                                                   std::size_t place) {
  std::vector<const IterationSummary*> found;
  const auto add = [&](const SeriesPoint& point) {
    if (!point.regular || point.past || found.size() == kUsual) return;
    if (const IterationSummary* it = SummaryOf(view, point.index)) found.push_back(it);
  };
  for (std::size_t i = place; i-- > 0;) add(series.points[i]);
  for (std::size_t i = place + 1; i < series.points.size(); ++i) add(series.points[i]);
  return found;
}

// Of the rank in this iteration, beyond what it has in those.
template <typename Part>
double Beyond(const RankIteration& rank, const std::vector<const IterationSummary*>& usual,
              const Part& part) {
  std::vector<double> values;
  for (const IterationSummary* it : usual) {
    const RankIteration* mine = RankIn(*it, rank.rank);
    if (mine != nullptr) values.push_back(part(*mine).Seconds());
  }
  return part(rank).Seconds() - Median(std::move(values));
}

// To its rank: more own time than the iteration lost was hidden in waits.
double LostTo(const Spike& spike) { return std::min(spike.own, spike.lost).Seconds(); }

// Of a rank in a spike. Who is late behind the last op of an iteration makes the others wait in the
// next one.
class OwnExcess {
 public:
  OwnExcess(const JobView& view, const JobSeries& series, std::size_t place)
      : usual_(RegularAround(view, series, place)) {
    if (place > 0 && series.points[place - 1].regular) {
      before_ = SummaryOf(view, series.points[place - 1].index);
    }
  }

  template <typename Part>
  double Of(const RankIteration& rank, const Part& part) const {
    const RankIteration* before = before_ == nullptr ? nullptr : RankIn(*before_, rank.rank);
    const double behind = before == nullptr ? 0 : Beyond(*before, usual_, part);
    return Beyond(rank, usual_, part) + std::max(0.0, behind);
  }

 private:
  const std::vector<const IterationSummary*> usual_;
  const IterationSummary* before_ = nullptr;
};

Nanos PositiveOf(double seconds) { return Nanos::FromSeconds(std::max(0.0, seconds)); }

Spike SpikeOf(const JobView& view, const JobSeries& series, std::size_t place,
              const IterationSummary& it, const DiagnosisConfig& config) {
  const SeriesPoint& point = series.points[place];
  const double lost = point.seconds - series.reference;
  const OwnExcess excess(view, series, place);
  Spike spike;
  spike.index = point.index;
  spike.begin = point.begin;
  spike.lost = Nanos::FromSeconds(lost);
  const RankIteration* most = nullptr;
  double largest = 0, next = 0;
  for (const RankIteration& rank : it.ranks) {
    const double own = excess.Of(rank, OwnTimeOf);
    if (own > largest) most = &rank;
    next = std::max(next, std::min(own, largest));
    largest = std::max(largest, own);
  }
  const bool explains = largest >= config.mostly_share * lost;
  if (most == nullptr || !explains || largest < config.peer_contrast * next) return spike;
  spike.rank = most->rank;
  spike.own = PositiveOf(largest);
  spike.compute = PositiveOf(excess.Of(*most, BusyOf));
  spike.gc = PositiveOf(excess.Of(*most, [](const RankIteration& r) { return r.gc; }));
  spike.dataloader = PositiveOf(excess.Of(*most, LoadingOf));
  return spike;
}

// Of one rank.
std::vector<std::int64_t> GapsOf(const std::vector<const Spike*>& spikes) {
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < spikes.size(); ++i) {
    gaps.push_back(spikes[i]->index.value - spikes[i - 1]->index.value);
  }
  return gaps;
}

// Each gap is a multiple of the one in the middle, give or take one.
bool ComeByCount(std::vector<std::int64_t> gaps) {
  std::sort(gaps.begin(), gaps.end());
  const std::int64_t period = gaps[gaps.size() / 2];
  if (period < kFewestBetween) return false;
  const std::int64_t slack = period >= 2 * kFewestBetween ? 1 : 0;
  return std::all_of(gaps.begin(), gaps.end(), [&](std::int64_t gap) {
    const std::int64_t times = std::max<std::int64_t>(1, (gap + period / 2) / period);
    return std::abs(gap - times * period) <= slack;
  });
}

// By whom most is lost.
std::vector<const Spike*> OfTheWorst(const SpikeMemory& memory) {
  std::map<RankId, std::vector<const Spike*>> of_rank;
  std::map<RankId, double> lost;
  RankId worst = kNoRank;
  for (const Spike& spike : memory.spikes) {
    if (spike.rank == kNoRank) continue;
    of_rank[spike.rank].push_back(&spike);
    lost[spike.rank] += LostTo(spike);
    if (worst == kNoRank || lost[spike.rank] > lost[worst]) worst = spike.rank;
  }
  return worst == kNoRank ? std::vector<const Spike*>() : of_rank[worst];
}

// What half of its own lose is not of their kind.
double LevelOf(const std::vector<const Spike*>& own, const DiagnosisConfig& config) {
  std::vector<double> lost;
  for (const Spike* spike : own) lost.push_back(LostTo(*spike));
  return Median(std::move(lost)) / config.peer_contrast;
}

bool IsOver(const SpikeMemory& memory, const std::vector<const Spike*>& own,
            const std::vector<std::int64_t>& gaps) {
  const std::int64_t quiet = memory.judged.value - own.back()->index.value;
  return quiet > kLongestGaps * *std::max_element(gaps.begin(), gaps.end());
}

// The oldest, and of those that are too many the smallest.
void Forget(SpikeMemory& memory) {
  std::vector<Spike>& spikes = memory.spikes;
  std::erase_if(spikes, [&](const Spike& spike) {
    return memory.judged.value - spike.index.value > kRemembered;
  });
  while (spikes.size() > kMostSpikes) {
    spikes.erase(std::min_element(spikes.begin(), spikes.end(),
                                  [](const Spike& a, const Spike& b) { return a.lost < b.lost; }));
  }
}

}  // namespace

SpikeMemory RememberSpikes(const JobView& view, const JobSeries& series, bool in_trouble,
                           const DiagnosisConfig& config) {
  SpikeMemory memory = view.spikes;
  if (view.window.empty()) return memory;
  const Iteration newest = view.window.back().index;
  if (newest < memory.judged) memory = {};  // a count that has begun anew
  if (in_trouble || series.reference <= 0) {
    memory.judged = newest;
    return memory;
  }
  const std::size_t most = MostRanks(view);
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const SeriesPoint& point = series.points[i];
    if (point.past || point.index <= memory.judged) continue;
    const IterationSummary* it = SummaryOf(view, point.index);
    if (it == nullptr) continue;
    if (it->ranks.size() < most && newest.value - point.index.value < kLate) break;
    memory.judged = point.index;
    const bool begins = point.index.value < config.baseline_iterations;
    const bool is_long = point.seconds >= config.peer_contrast * series.reference;
    if (point.regular || begins || !is_long) continue;
    memory.spikes.push_back(SpikeOf(view, series, i, *it, config));
  }
  Forget(memory);
  return memory;
}

std::optional<SpikeCulprit> WhoseSpikes(const JobView& view, const SpikeMemory& memory,
                                        double usual_s, const DiagnosisConfig& config) {
  const std::size_t ranks = MostRanks(view);
  const auto fewest = static_cast<std::size_t>(std::max(2, config.min_irregular));
  if (usual_s <= 0 || ranks < 2 || memory.spikes.size() < fewest) return std::nullopt;
  std::vector<const Spike*> own = OfTheWorst(memory);
  const double level = LevelOf(own, config);
  std::erase_if(own, [&](const Spike* spike) { return LostTo(*spike) < level; });
  if (own.size() < fewest) return std::nullopt;
  const std::vector<std::int64_t> gaps = GapsOf(own);
  if (ComeByCount(gaps) || IsOver(memory, own, gaps)) return std::nullopt;
  SpikeCulprit culprit{.rank = own.front()->rank, .own = own};
  double lost = 0;
  for (const Spike& spike : memory.spikes) {
    if (spike.lost.Seconds() >= level) ++culprit.all;
    if (spike.index >= own.front()->index) lost += spike.lost.Seconds();
  }
  const double alike = 1 / static_cast<double>(ranks);
  culprit.chance = BinomialTail(culprit.all, own.size(), alike) / alike;
  const AccountLimits limits;
  const bool alone = own.size() == culprit.all;
  if (culprit.chance > (alone ? limits.chance_live_far : limits.chance_live)) return std::nullopt;
  for (const Spike* spike : own) culprit.lost_s += LostTo(*spike);
  culprit.iterations = memory.judged.value - own.front()->index.value + 1;
  culprit.share = culprit.lost_s / (lost + usual_s * static_cast<double>(culprit.iterations));
  if (culprit.share < limits.least_cost) return std::nullopt;
  return culprit;
}

}  // namespace fathom::diagnosis
