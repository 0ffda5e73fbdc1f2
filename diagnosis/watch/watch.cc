#include "diagnosis/watch/watch.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "diagnosis/stats/robust.h"
#include "diagnosis/watch/peer_look.h"
#include "diagnosis/watch/rank_shift.h"
#include "diagnosis/watch/rows_wanted.h"
#include "diagnosis/watch/series.h"
#include "diagnosis/watch/shift.h"
#include "diagnosis/watch/spikes.h"
#include "diagnosis/watch/stall.h"

namespace fathom::diagnosis {
namespace {

std::string KindOf(const JobSeries& series, std::size_t i, const Onset& onset) {
  if (onset.persistent && i >= onset.first) return "degradation";
  const bool before = i > 0 && !series.points[i - 1].regular;
  const bool after = i + 1 < series.points.size() && !series.points[i + 1].regular;
  const bool in_episode = !onset.persistent && i >= onset.first;
  return before || after || in_episode ? "fluctuation" : "spike";
}

std::vector<IrregularIteration> Irregular(const JobSeries& series, const Onset& onset) {
  std::vector<IrregularIteration> out;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const SeriesPoint& p = series.points[i];
    if (p.regular) continue;
    out.push_back({p.index, Nanos::FromSeconds(p.seconds), KindOf(series, i, onset)});
  }
  return out;
}

// A degradation is told by its median; what comes and goes by its mean, which is what is lost. What
// was before the onset is neither.
double Measured(const JobSeries& series, const Onset& onset, const DiagnosisConfig& config) {
  const std::size_t n = series.points.size();
  std::size_t count = static_cast<std::size_t>(config.recent_window());
  if (onset.first < n) count = std::min(count, n - onset.first);
  std::vector<double> recent;
  double sum = 0;
  for (std::size_t i = n - std::min(n, count); i < n; ++i) {
    recent.push_back(series.points[i].seconds);
    sum += series.points[i].seconds;
  }
  if (recent.empty()) return 0;
  if (onset.first < n && !onset.persistent) return sum / static_cast<double>(recent.size());
  return Median(std::move(recent));
}

// Judges the points by the step; none: there is no onset.
Onset OnsetOf(const std::optional<Shift>& shift, JobSeries& series) {
  const std::size_t n = series.points.size();
  if (!shift) return {n, false, 0};
  series.reference = shift->before;
  for (std::size_t i = shift->first; i < n; ++i) {
    series.points[i].regular = series.points[i].seconds <= shift->limit;
  }
  return {shift->first, true, 1};
}

// A lasting step is told by many points together, none of which is irregular by itself.
Onset FindStep(const JobView& view, JobSeries& series, const DiagnosisConfig& config) {
  std::optional<Shift> shift = FindShift(series, config);
  if (!shift) shift = FindRankShift(view, series, config);
  return OnsetOf(shift, series);
}

void DescribeEpisode(const JobView& view, const JobSeries& series, const Onset& onset,
                     const Episode& known, const DiagnosisConfig& config, Suspicion& out) {
  const SeriesPoint& first = series.points[onset.first];
  out.onset = first.index;
  out.onset_time = first.begin;
  // The same episode goes on: it keeps the onset it was first seen with.
  const bool goes_on = known.onset.value >= 0 && known.onset < first.index;
  if (goes_on && (!onset.persistent || IsOneEpisode(series, onset.first, config))) {
    out.onset = known.onset;
    out.onset_time = known.onset_time;
  }
  out.rows = RowsForSlow(view, series, out.onset, known, config);
  out.seen_since_onset =
      static_cast<std::int64_t>(series.points.size() - series.PlaceOf(out.onset));
  out.episode = {out.onset,      out.onset_time, out.expected, out.noise,
                 out.rows.ranks, known.wide,     known.named,  {}};
}

// `known`: the episode as it was seen last.
Suspicion SlownessOf(const JobView& view, const JobSeries& series, const Onset& onset,
                     const Episode& known, const DiagnosisConfig& config) {
  Suspicion out;
  const std::size_t n = series.points.size();
  const auto calm = static_cast<std::size_t>(config.baseline_iterations);
  out.slow = onset.first < n;
  out.settled =
      !out.slow && series.reference > 0 && n >= calm && IrregularAmongLast(series, calm) <= 1;
  out.expected = Nanos::FromSeconds(series.reference);
  out.noise = Nanos::FromSeconds(series.noise);
  out.measured = Nanos::FromSeconds(Measured(series, onset, config));
  out.change_probability = onset.probability;
  out.irregular = Irregular(series, onset);
  if (out.slow) DescribeEpisode(view, series, onset, known, config, out);
  return out;
}

// What began lately in an episode is none: its first iterations have to teach what is usual in it.
Onset FindRise(JobSeries& series, const DiagnosisConfig& config) {
  const std::size_t n = series.points.size();
  const bool known = series.episode.value >= 0;
  Onset onset = FindOnset(series, config);
  if (onset.first == n) onset = OnsetOf(FindShift(series, config), series);
  const bool lasts =
      onset.persistent && static_cast<std::int32_t>(onset.first) >= config.learning_iterations;
  return known || lasts ? onset : Onset{n, false, 0};
}

void LookWithin(const JobView& view, const JobSeries& whole, const DiagnosisConfig& config,
                Suspicion& out) {
  const Episode& episode = view.episode;
  const Episode known = episode.rise.empty() ? Episode() : episode.rise.front();
  if (!out.slow || out.onset != episode.onset || (episode.named && episode.rise.empty())) return;
  JobSeries series = SeriesSince(whole, out.onset, known, config);
  const Onset onset = FindRise(series, config);
  Suspicion rise = SlownessOf(view, series, onset, known, config);
  if (!rise.slow) return;
  rise.usual_from = out.onset;
  std::set<Iteration> all(out.rows.iterations.begin(), out.rows.iterations.end());
  all.insert(rise.rows.iterations.begin(), rise.rows.iterations.end());
  out.rows = {rise.rows.ranks, {all.begin(), all.end()}};
  out.episode.rise = {rise.episode};
  out.rise = {std::move(rise)};
}

// A job whose slow iterations come from somebody who always came and went is not slow against its
// past: its past is no better.
void AskPeers(const JobView& view, const DiagnosisConfig& config, Suspicion& out) {
  SlowSince since;
  if (out.slow) since.first = out.onset;
  for (const IrregularIteration& it : out.irregular) {
    if (!out.slow || it.index < out.onset) continue;
    since.lost[it.index] = it.duration.Seconds() - out.expected.Seconds();
  }
  std::optional<RowsWanted> rows = LookAtPeers(view, config, since);
  if (!rows) return;
  out.differs = true;
  out.rows = *std::move(rows);
  if (!out.slow) return;
  out.slow = false;
  out.onset = Iteration(-1);
  out.episode = {};
  out.rise.clear();
}

}  // namespace

Suspicion Watch(const JobView& view, const DiagnosisConfig& config) {
  JobSeries series = BuildSeries(view, config);
  Onset onset = FindOnset(series, config);
  if (onset.first == series.points.size()) onset = FindStep(view, series, config);
  Suspicion out = SlownessOf(view, series, onset, view.episode, config);
  out.stalled = AnyStalled(view, config);
  LookWithin(view, series, config, out);
  out.past = PastOf(series, out.episode, config);
  if (!out.stalled) AskPeers(view, config, out);
  out.spikes = RememberSpikes(view, series, out.slow || out.stalled, config);
  const double expected = out.expected.Seconds();
  out.differs |= !out.slow && WhoseSpikes(view, out.spikes, expected, config).has_value();
  if (out.stalled) out.rows = RowsForStall(view, config);
  return out;
}

}  // namespace fathom::diagnosis
