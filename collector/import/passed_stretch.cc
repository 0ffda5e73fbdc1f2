#include "collector/import/passed_stretch.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/import/episode.h"
#include "collector/import/recorded_series.h"
#include "collector/import/short_recording.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/watch/watch.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::collector {
namespace {

using Series = std::vector<RecordedIteration>;

struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Sums of ranks from the first value on: the sum of [a, b) is sums[b] - sums[a].
std::vector<double> RankSums(const Series& series) {
  std::vector<double> sorted;
  for (const RecordedIteration& one : series) sorted.push_back(one.seconds);
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> sums = {0};
  for (const RecordedIteration& one : series) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), one.seconds);
    const auto below = static_cast<double>(low - sorted.begin());
    sums.push_back(sums.back() + below + (static_cast<double>(high - low) + 1) / 2);
  }
  return sums;
}

// Standard deviations by which the stretch's rank sum lies above chance.
double HeightOf(const std::vector<double>& sums, const Stretch& stretch) {
  const auto n = static_cast<double>(sums.size() - 1);
  const auto b = static_cast<double>(stretch.end - stretch.begin);
  const double sum = sums[stretch.end] - sums[stretch.begin];
  return (sum - b * (n + 1) / 2) / std::sqrt(b * (n - b) * (n + 1) / 12);
}

// The highest stretch, and of how many. Its end is 0 where there is none.
Stretch Highest(const Series& series, std::size_t& tried) {
  const std::size_t before = diagnosis::kFewestForMedian, least = before;
  const std::vector<double> sums = RankSums(series);
  Stretch best;
  double height = 0;
  for (std::size_t begin = before; begin < series.size(); ++begin) {
    for (std::size_t end = begin + least; end + least <= series.size(); ++end) {
      ++tried;
      const double of = HeightOf(sums, {begin, end});
      if (of > height) height = of, best = {begin, end};
    }
  }
  return best;
}

std::vector<double> Values(Series::const_iterator begin, Series::const_iterator end) {
  std::vector<double> values;
  for (; begin != end; ++begin) values.push_back(begin->seconds);
  return values;
}

// An iteration at the edge that only chance has put above its neighbours is none of the stretch.
void Trim(double limit, Series::const_iterator& first, Series::const_iterator& last) {
  while (first != last && first->seconds <= limit) ++first;
  while (first != last && (last - 1)->seconds <= limit) --last;
}

bool MostlyBelow(const std::vector<double>& values, double limit, double share) {
  const auto below =
      std::count_if(values.begin(), values.end(), [limit](double value) { return value <= limit; });
  return static_cast<double>(below) >= share * static_cast<double>(values.size());
}

bool FromStretch(const diagnosis::Verdict& verdict, const PassedStretch& passed) {
  return diagnosis::Convicts(verdict) && !diagnosis::IsHang(verdict) &&
         verdict.since_iteration >= passed.episode.onset && verdict.since_iteration <= passed.until;
}

std::string InWords(const PassedStretch& passed) {
  return absl::StrCat("iterations ", passed.episode.onset.value, " to ", passed.until.value);
}

void MakeLead(const diagnosis::JobView& view, const PassedStretch& passed,
              diagnosis::Verdict& verdict) {
  std::string who = diagnosis::RanksInWords(verdict.entity.ranks);
  if (verdict.entity.ranks.size() == 1) {
    who = diagnosis::RankName(view, verdict.entity.ranks.front());
    who.front() = 'r';
  }
  verdict.grade = diagnosis::Grade::kHypothesis;
  verdict.sentence = absl::StrFormat(
      "Iterations %d to %d took longer by %s each, held back by %s: %s. Then they were as before; "
      "other load on a node for that time looks the same.",
      passed.episode.onset.value, passed.until.value,
      diagnosis::Duration(verdict.cost.seconds_per_iteration), who,
      diagnosis::CauseInWords(verdict.cause));
  verdict.would_change.push_back("The same rank in another stretch or recording.");
}

// As Diagnose() would have said at the end of the stretch.
diagnosis::Diagnosis AtItsEnd(const PassedStretch& passed, diagnosis::JobView& view,
                              const diagnosis::DiagnosisConfig& config) {
  const auto cut = view.window.begin() + static_cast<std::ptrdiff_t>(passed.end);
  std::vector<diagnosis::IterationSummary> later(std::make_move_iterator(cut),
                                                 std::make_move_iterator(view.window.end()));
  view.window.erase(cut, view.window.end());
  const diagnosis::Episode kept = std::exchange(view.episode, passed.episode);
  diagnosis::Diagnosis then = diagnosis::Diagnose(view, diagnosis::Watch(view, config), config);
  view.episode = kept;
  view.window.insert(view.window.end(), std::make_move_iterator(later.begin()),
                     std::make_move_iterator(later.end()));
  return then;
}

void MarkIterations(const PassedStretch& passed, const diagnosis::JobView& view,
                    diagnosis::Diagnosis& diagnosis) {
  std::vector<diagnosis::IrregularIteration>& all = diagnosis.irregular;
  const auto within = [&](Iteration index) {
    return index >= passed.episode.onset && index <= passed.until;
  };
  std::erase_if(all, [&](const auto& one) { return within(one.index); });
  for (const RecordedIteration& one : RecordedSeries(view)) {
    if (within(one.index)) all.push_back({one.index, Nanos::FromSeconds(one.seconds), kPassed});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
}

std::string Missing(const diagnosis::Diagnosis& then) {
  for (const diagnosis::Abstention& abstention : then.abstained) {
    if (abstention.question == "who holds the job back") return abstention.missing;
  }
  return "a rank or group that takes longer in most of them";
}

}  // namespace

std::optional<PassedStretch> FindPassedStretch(const diagnosis::JobView& view,
                                               const diagnosis::DiagnosisConfig& config) {
  const Series series = RecordedSeries(view);
  if (!view.schedule.empty() || series.size() > kLongestSearched) return std::nullopt;
  std::size_t tried = 0;
  const Stretch found = Highest(series, tried);
  if (found.end == 0) return std::nullopt;
  auto first = series.cbegin() + static_cast<std::ptrdiff_t>(found.begin);
  auto last = series.cbegin() + static_cast<std::ptrdiff_t>(found.end);
  const std::vector<double> before = Values(series.begin(), first);
  const std::vector<double> inside = Values(first, last);
  const std::vector<double> behind = Values(last, series.end());
  std::vector<double> values = before;
  values.insert(values.end(), behind.begin(), behind.end());
  const double rest = diagnosis::Median(values), slow = diagnosis::Median(inside);
  const std::size_t cut = values.size();
  values.insert(values.end(), inside.begin(), inside.end());
  if (ChanceOfRise(values, cut) * static_cast<double>(tried) >= config.recorded_chance) {
    return std::nullopt;
  }
  const double middle = (rest + slow) / 2;
  Trim(middle, first, last);
  if (last - first < static_cast<std::ptrdiff_t>(diagnosis::kFewestForMedian) ||
      slow < config.delta * rest || !MostlyBelow(before, middle, config.consistent_share) ||
      !MostlyBelow(behind, middle, config.consistent_share)) {
    return std::nullopt;
  }
  PassedStretch passed;
  passed.episode.onset = first->index;
  passed.episode.onset_time = first->begin;
  passed.episode.expected = Nanos::FromSeconds(diagnosis::Median(before));
  passed.episode.noise = Nanos::FromSeconds((slow - rest) / 2 / config.noise_factor);
  passed.end = (last - 1)->place + 1;
  passed.until = (last - 1)->index;
  return passed;
}

Iteration JudgePassedStretch(diagnosis::JobView& view, const diagnosis::DiagnosisConfig& config,
                             diagnosis::Diagnosis& diagnosis) {
  const auto passed = FindPassedStretch(view, config);
  if (!passed) return Iteration(-1);
  MarkIterations(*passed, view, diagnosis);
  diagnosis::Diagnosis then = AtItsEnd(*passed, view, config);
  std::erase_if(then.verdicts, [&](const auto& one) { return !FromStretch(one, *passed); });
  if (then.verdicts.empty()) {
    diagnosis.abstained.push_back(
        {absl::StrCat("who held ", InWords(*passed), " back"), Missing(then)});
  }
  for (diagnosis::Verdict& verdict : then.verdicts) {
    MakeLead(view, *passed, verdict);
    diagnosis.verdicts.push_back(std::move(verdict));
  }
  return passed->until;
}

}  // namespace fathom::collector
