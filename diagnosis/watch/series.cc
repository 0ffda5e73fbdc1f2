#include "diagnosis/watch/series.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "diagnosis/stats/change_point.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {

double IrregularAbove(const DiagnosisConfig& config, double reference, double noise) {
  return std::max(config.delta * reference, reference + config.noise_factor * noise);
}
namespace {

constexpr double kUpperDecileZ = 1.2816;  // of the standard normal

struct Level {
  double reference = 0;
  double noise = 0;

  double Limit(const DiagnosisConfig& config) const {
    return IrregularAbove(config, reference, noise);
  }
};

Level LevelOf(const std::deque<double>& regular, const DiagnosisConfig& config) {
  const std::vector<double> values(regular.begin(), regular.end());
  Level level;
  level.reference = Median(values);
  const double upper = (Quantile(values, 0.9) - level.reference) / kUpperDecileZ;
  const bool learning = values.size() < static_cast<std::size_t>(config.learning_iterations);
  const double floor = learning ? config.learning_noise : config.quiet_noise();
  level.noise = std::max({MadSigma(values, level.reference), upper, floor * level.reference});
  return level;
}

// Iterations that no more than half of the ranks that report at present did are left out: their
// median may be that of a few early ones.
std::vector<SeriesPoint> MedianOverRanks(const JobView& view, const DiagnosisConfig& config) {
  const std::size_t n = view.window.size();
  const auto recent = static_cast<std::size_t>(config.recent_window());
  std::size_t most = 0;
  for (std::size_t i = n - std::min(n, recent); i < n; ++i) {
    most = std::max(most, view.window[i].ranks.size());
  }
  std::vector<SeriesPoint> points;
  for (const IterationSummary& it : view.window) {
    if (it.ranks.empty() || 2 * it.ranks.size() < most) continue;
    std::vector<double> seconds;
    for (const RankIteration& r : it.ranks) seconds.push_back(r.duration.Seconds());
    points.push_back({it.index, it.begin, Median(std::move(seconds))});
  }
  return points;
}

// What is in the window is told by it; `past` fills what it has let go.
std::vector<SeriesPoint> WithPast(const std::vector<PastIteration>& past,
                                  std::vector<SeriesPoint> window) {
  if (window.empty() || past.empty()) return window;
  std::vector<SeriesPoint> points;
  auto next = window.begin();
  for (const PastIteration& it : past) {
    while (next != window.end() && next->index < it.index) points.push_back(*next++);
    if (next == window.end()) break;  // of a count that has begun anew
    if (next->index == it.index) {
      next->judged = it.duration == Nanos::FromSeconds(next->seconds);
      if (next->judged) next->regular = it.regular;
      continue;
    }
    points.push_back({it.index, it.begin, it.duration.Seconds(), it.regular, true, true});
  }
  points.insert(points.end(), next, window.end());
  return points;
}

// Enough regular points at the front have been judged already to tell what is usual.
bool Known(const JobSeries& series, std::size_t enough) {
  const auto first = std::find_if(series.points.begin(), series.points.end(),
                                  [](const SeriesPoint& point) { return !point.past; });
  const auto regular = std::count_if(series.points.begin(), first,
                                     [](const SeriesPoint& point) { return point.regular; });
  return static_cast<std::size_t>(regular) >= enough;
}

// Judges the points that taught the baseline by what they taught.
void JudgeLearners(JobSeries& series, std::size_t count, const DiagnosisConfig& config) {
  std::deque<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(series.points[i].seconds);
  const Level level = LevelOf(values, config);
  for (std::size_t i = 0; i < count; ++i) {
    series.points[i].regular = series.points[i].seconds <= level.Limit(config);
  }
}

Level Frozen(const Episode& episode) {
  return {episode.expected.Seconds(), episode.noise.Seconds()};
}

// Irregular points [i, i + count) among those there are.
std::size_t IrregularFrom(const JobSeries& series, std::size_t i, std::size_t count) {
  const std::size_t end = std::min(series.points.size(), i + count);
  std::size_t irregular = 0;
  for (; i < end; ++i) irregular += series.points[i].regular ? 0 : 1;
  return irregular;
}

}  // namespace

std::size_t JobSeries::PlaceOf(Iteration iteration) const {
  const auto at = std::find_if(points.begin(), points.end(),
                               [&](const SeriesPoint& point) { return point.index >= iteration; });
  return static_cast<std::size_t>(at - points.begin());
}

namespace {

JobSeries Judged(std::vector<SeriesPoint> points, const Episode& episode,
                 const DiagnosisConfig& config) {
  JobSeries series;
  series.points = std::move(points);
  const bool in_episode = episode.onset.value >= 0 && episode.expected.count > 0;
  if (in_episode) series.episode = episode.onset;
  const auto learn = static_cast<std::size_t>(config.baseline_iterations);
  if (series.points.size() < learn && !in_episode) return series;
  const bool known = Known(series, learn);
  const std::size_t taught = in_episode || known ? 0 : learn;
  JudgeLearners(series, taught, config);
  std::deque<double> regular;
  Level level = in_episode ? Frozen(episode) : Level{};
  bool stale = !in_episode;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    SeriesPoint& point = series.points[i];
    const bool judged = point.past || i < taught || (known && !in_episode && point.judged);
    if (!judged && stale) level = LevelOf(regular, config), stale = false;
    if (!judged) point.regular = point.seconds <= level.Limit(config);
    if (!point.regular || in_episode) continue;
    regular.push_back(point.seconds);
    if (regular.size() > static_cast<std::size_t>(config.trailing_window())) regular.pop_front();
    stale = true;
  }
  if (stale) level = LevelOf(regular, config);
  series.reference = level.reference;
  series.noise = level.noise;
  return series;
}

}  // namespace

JobSeries BuildSeries(const JobView& view, const DiagnosisConfig& config) {
  return Judged(WithPast(view.past, MedianOverRanks(view, config)), view.episode, config);
}

JobSeries SeriesSince(const JobSeries& series, Iteration onset, const Episode& known,
                      const DiagnosisConfig& config) {
  std::vector<SeriesPoint> points;
  for (std::size_t i = series.PlaceOf(onset); i < series.points.size(); ++i) {
    const SeriesPoint& point = series.points[i];
    points.push_back({point.index, point.begin, point.seconds});
  }
  return Judged(std::move(points), known, config);
}

std::vector<double> SecondsOf(const JobSeries& series, std::size_t from, std::size_t to) {
  std::vector<double> values;
  for (std::size_t i = from; i < to; ++i) values.push_back(series.points[i].seconds);
  return values;
}

std::vector<PastIteration> PastOf(const JobSeries& series, const Episode& episode,
                                  const DiagnosisConfig& config) {
  const auto most = static_cast<std::size_t>(config.trailing_window());
  const std::size_t n = series.points.size();
  std::vector<PastIteration> past;
  const Iteration onset = episode.onset;
  const Iteration rise = episode.rise.empty() ? onset : episode.rise.front().onset;
  std::size_t regular = 0, risen_from = 0;
  for (std::size_t i = n; i-- > 0;) {
    const SeriesPoint& point = series.points[i];
    const bool usual = point.regular && (onset.value < 0 || point.index < onset);
    const bool within = point.index >= onset && point.index < rise;
    const bool teaches = (usual && regular < most) || (within && risen_from < most);
    regular += usual ? 1 : 0;
    risen_from += within ? 1 : 0;
    if (point.past && !teaches && n - i > most) continue;
    past.push_back({point.index, point.begin, Nanos::FromSeconds(point.seconds), point.regular});
  }
  std::reverse(past.begin(), past.end());
  return past;
}

std::size_t IrregularAmongLast(const JobSeries& series, std::size_t count) {
  const std::size_t n = series.points.size();
  return IrregularFrom(series, n - std::min(n, count), count);
}

std::size_t AfterCalm(const JobSeries& series, const DiagnosisConfig& config) {
  const auto enough = static_cast<std::size_t>(std::max(1, config.baseline_iterations));
  std::size_t calm = 0;
  for (std::size_t i = series.points.size(); i-- > 0;) {
    calm = series.points[i].regular ? calm + 1 : 0;
    if (calm == enough) return i + enough;
  }
  return 0;
}

namespace {

// The earliest irregular point from which on nearly all are irregular, at once and to the end: a
// spike some time before is not where it began. points.size() if none.
std::size_t PersistentFrom(const JobSeries& series, const DiagnosisConfig& config) {
  const std::size_t n = series.points.size();
  const auto least = static_cast<std::size_t>(std::max(1, config.min_irregular));
  const auto nearly_all = [&](std::size_t of_them, std::size_t points) {
    return static_cast<double>(of_them) >= config.consistent_share * static_cast<double>(points);
  };
  std::size_t first = n, irregular = 0;
  for (std::size_t i = n; i-- > AfterCalm(series, config);) {
    if (series.points[i].regular) continue;
    ++irregular;
    if (irregular < least || !nearly_all(irregular, n - i)) continue;
    if (nearly_all(IrregularFrom(series, i, least), least)) first = i;
  }
  return first;
}

std::vector<double> Normalised(const JobSeries& series, std::size_t from, double most) {
  std::vector<double> values;
  for (std::size_t i = from; i < series.points.size(); ++i) {
    const double z = (series.points[i].seconds - series.reference) / series.noise;
    values.push_back(std::clamp(z, -most, most));
  }
  return values;
}

Onset Persistent(const JobSeries& series, std::size_t first, const DiagnosisConfig& config) {
  const ChangePointPrior prior;
  const auto slack = static_cast<std::size_t>(config.onset_slack());
  const std::size_t n = series.points.size();
  // Nothing before it to change from: a baseline handed back by the caller says it is slow.
  if (first == 0) return {0, true, 1};
  const std::size_t from = n - std::min(n, prior.longest_run);
  const std::vector<double> start =
      RunStartPosterior(Normalised(series, from, config.spike_sigmas), prior);
  const std::size_t low = first - std::min(first, slack);
  if (low <= from) return {first, true, 1};
  Onset onset{first, true, 0};
  std::size_t best = low;
  for (std::size_t i = low; i < n; ++i) {
    onset.probability += start[i - from];
    if (start[i - from] > start[best - from]) best = i;
  }
  onset.persistent = onset.probability >= config.supported_odds * (1 - onset.probability);
  // A spike shortly before the change belongs to the irregular points but not to the episode.
  while (best < n && series.points[best].regular) ++best;
  if (best < n && best > onset.first && best - onset.first <= 2 * slack) onset.first = best;
  return onset;
}

// Irregular points at the very end, without a regular one between: what they begin is not over.
// One alone is none of it, nor is anything while an episode lasts.
std::size_t Begun(const JobSeries& series) {
  const std::size_t n = series.points.size();
  std::size_t run = 0;
  while (run < n && !series.points[n - 1 - run].regular) ++run;
  return run < 2 || series.episode.value >= 0 ? 0 : run;
}

Onset Fluctuating(const JobSeries& series, const DiagnosisConfig& config) {
  const std::size_t n = series.points.size();
  const auto window = static_cast<std::size_t>(config.recent_window());
  const auto least = static_cast<std::size_t>(std::max(1, config.min_irregular));
  std::size_t first = std::max(n - std::min(n, window), AfterCalm(series, config));
  const std::size_t among = IrregularFrom(series, first, n - first);
  const std::size_t begun = Begun(series), gone = among - std::min(among, begun);
  // Enough by themselves, though no change that is certain: they are what is asked about.
  const std::size_t irregular = begun >= least ? among : gone;
  const double share = static_cast<double>(irregular) / static_cast<double>(window);
  if (irregular < least) return {n, false, 0};
  if (begun >= least && gone < least) return {n - begun, false, share};
  while (first < n && series.points[first].regular) ++first;
  return {first, false, share};
}

}  // namespace

Onset FindOnset(const JobSeries& series, const DiagnosisConfig& config) {
  const std::size_t n = series.points.size();
  const auto calm = static_cast<std::size_t>(config.baseline_iterations);
  if (series.reference <= 0 || (n >= calm && IrregularAmongLast(series, calm) <= 1)) {
    return {n, false, 0};
  }
  const std::size_t first = PersistentFrom(series, config);
  if (first < n) {
    const Onset onset = Persistent(series, first, config);
    if (onset.persistent) return onset;
  }
  return Fluctuating(series, config);
}

bool IsOneEpisode(const JobSeries& series, std::size_t onset, const DiagnosisConfig& config) {
  const std::size_t first = series.PlaceOf(series.episode);
  // One that did not begin with an irregular iteration was not dated by a spike.
  if (first >= onset || series.points[first].regular) return true;
  const std::size_t irregular = IrregularFrom(series, first, onset - first);
  const double share = static_cast<double>(irregular) / static_cast<double>(onset - first);
  const bool fluctuates = irregular >= static_cast<std::size_t>(config.min_irregular) &&
                          share >= config.fluctuation_share;
  return fluctuates || share >= config.consistent_share;
}

}  // namespace fathom::diagnosis
