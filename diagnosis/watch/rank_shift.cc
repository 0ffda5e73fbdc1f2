#include "diagnosis/watch/rank_shift.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "diagnosis/stats/robust.h"
#include "diagnosis/stats/step.h"
#include "diagnosis/watch/own_times.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kSample = 512;  // ranks whose steps tell what steps of chance are like

// Places at which the step of the job is large enough to ask why; empty: low = high.
struct Places {
  std::size_t low = 0;
  std::size_t high = 0;  // the last one, and one
  std::size_t best = 0;
  double rise = 0;  // of the job at the best one
};

// What a step of the job and of a rank at its place must measure.
struct Needed {
  double delta;  // × what the job took before
  double sigmas;
  double noisy_sigmas;  // in a job of more noise than this
  double noise;         // of the median
  double rank_sigmas;   // against the steps of all ranks
};

Needed NeededToBegin(const DiagnosisConfig& config) {
  const double part = config.shift_goes_on;
  return {1 + part * (config.shift_delta - 1), part * config.shift_sigmas, config.shift_sigmas,
          config.quiet_noise(), (1 + part) * config.shift_sigmas};
}

Needed NeededToGoOn(const DiagnosisConfig& config) {
  const double part = config.shift_goes_on;
  const Needed begin = NeededToBegin(config);
  return {1 + part * (begin.delta - 1), part * begin.sigmas, part * begin.noisy_sigmas,
          begin.noise / part, part * begin.rank_sigmas};
}

bool IsRise(const Step& job, const Needed& needed) {
  const bool quiet = job.sigma <= needed.noise * job.before;
  return job.after >= needed.delta * job.before &&
         job.Score() >= (quiet ? needed.sigmas : needed.noisy_sigmas);
}

// The points of which ranks are known.
JobSeries WindowOf(JobSeries series) {
  std::erase_if(series.points, [](const SeriesPoint& point) { return point.past; });
  return series;
}

// `known`: the first point of which ranks are known, if not all.
Places PlacesOfRise(const std::vector<double>& job, std::size_t known,
                    const DiagnosisConfig& config) {
  const auto few = static_cast<std::size_t>(std::max(1, config.baseline_iterations));
  const auto low = std::max(static_cast<std::size_t>(std::max(1, config.learning_iterations)),
                            known == 0 ? 0 : known + few);
  const auto least = static_cast<std::size_t>(std::max(1, config.baseline_iterations));
  const auto slack = static_cast<std::size_t>(config.onset_slack());
  const StepLimits limits = StepLimitsOf(config);
  const Needed needed = NeededToBegin(config);
  Places places;
  double score = 0;
  for (std::size_t split = low; split + least <= job.size(); ++split) {
    const Step step = StepAt(job, split, limits);
    if (!IsRise(step, needed)) continue;
    if (step.Score() > score) {
      score = step.Score();
      places.best = split, places.rise = step.Rise();
    }
    if (places.high == 0) places.low = std::max(low, split - std::min(split, slack));
    places.high = std::min(job.size() - least, split + slack) + 1;
  }
  return places;
}

struct RankStep {
  std::vector<double> seconds;  // of the rank; empty: there is none
  std::size_t split = 0;
  double score = 0;
};

// Squares that a step there explains, in those of the noise.
double Explained(const Step& step, double sigma) {
  if (step.error <= 0 || sigma <= 0) return 0;
  const double score = std::max(0.0, step.Rise()) / (step.error / step.sigma * sigma);
  return score * score;
}

// The job may have risen there: no other place explains it better by more than chance.
bool RoseThere(const std::vector<double>& job, const Step& there, const DiagnosisConfig& config) {
  const auto least = static_cast<std::size_t>(std::max(1, config.baseline_iterations));
  const StepLimits limits = StepLimitsOf(config);
  double most = 0;
  for (std::size_t split = least; split + least <= job.size(); ++split) {
    most = std::max(most, Explained(StepAt(job, split, limits), there.sigma));
  }
  const double by_chance = NeededToBegin(config).sigmas;
  return Explained(there, there.sigma) >= most - by_chance * by_chance;
}

// Cheap, for most ranks are not: of the means on both sides.
bool MayExplain(const std::vector<double>& seconds, const Places& places,
                const DiagnosisConfig& config) {
  double before = 0, after = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    (i < places.best ? before : after) += seconds[i];
  }
  const auto earlier = static_cast<double>(places.best);
  const double later = static_cast<double>(seconds.size()) - earlier;
  return after / later - before / earlier >= config.explains_share * places.rise;
}

// The rank whose step is largest, by its own standard errors.
RankStep Largest(OwnTimes ranks, const Places& places, const DiagnosisConfig& config) {
  const StepLimits limits = StepLimitsOf(config);
  RankStep largest;
  while (ranks.Next()) {
    if (!MayExplain(ranks.seconds(), places, config)) continue;
    const Split split = BestSplit(ranks.seconds(), places.low, places.high, limits);
    if (split.score > largest.score) largest = {ranks.seconds(), split.at, split.score};
  }
  return largest;
}

// In standard errors that the steps of all ranks at this place show to be theirs.
double StandsOutBy(OwnTimes ranks, const RankStep& rank, const StepLimits& limits) {
  std::vector<double> scores;
  const std::size_t every = std::max<std::size_t>(1, ranks.ranks() / kSample);
  while (ranks.Next(every)) {
    scores.push_back(StepAt(ranks.seconds(), rank.split, limits).Score());
  }
  const double middle = Median(scores), spread = std::max(1.0, MadSigma(scores, middle));
  return (StepAt(rank.seconds, rank.split, limits).Score() - middle) / spread;
}

bool IsApart(const RankStep& rank, const DiagnosisConfig& config) {
  const auto split = rank.seconds.begin() + static_cast<std::ptrdiff_t>(rank.split);
  const std::vector<double> before(rank.seconds.begin(), split), after(split, rank.seconds.end());
  const double limit = (Median(before) + Median(after)) / 2;
  return BetterThanALine(before, after, StepLimitsOf(config)) &&
         Apart(before, limit, false, config.consistent_share) &&
         Apart(after, limit, true, config.consistent_share);
}

bool Explains(const RankStep& rank, const Step& job, const DiagnosisConfig& config) {
  return StepAt(rank.seconds, rank.split, StepLimitsOf(config)).Rise() >=
         config.explains_share * job.Rise();
}

// Its newest iterations lie nearer to its step than to its time before.
bool StillThere(const RankStep& rank, std::size_t newest, const StepLimits& limits) {
  const Step step = StepAt(rank.seconds, rank.split, limits);
  const auto from = rank.seconds.end() - static_cast<std::ptrdiff_t>(newest);
  return Median({from, rank.seconds.end()}) > (step.before + step.after) / 2;
}

// At the onset of the episode, against its baseline.
std::optional<Shift> GoesOn(const JobView& view, const JobSeries& series,
                            const DiagnosisConfig& config) {
  const std::size_t onset = series.PlaceOf(series.episode), n = series.points.size();
  const auto least = static_cast<std::size_t>(std::max(1, config.baseline_iterations));
  if (onset < least || n < onset + least) return std::nullopt;
  const Needed needed = NeededToGoOn(config);
  const StepLimits limits = StepLimitsOf(config);
  Step job = StepAt(SecondsOf(series, 0, n), onset, limits);
  job.before = series.reference;
  if (!IsRise(job, needed)) return std::nullopt;
  const OwnTimes ranks(view, series);
  const RankStep rank = Largest(ranks, {onset, onset + 1, onset, job.Rise()}, config);
  if (rank.seconds.empty() || !Explains(rank, job, config) || !StillThere(rank, least, limits) ||
      StandsOutBy(ranks, rank, limits) < needed.rank_sigmas) {
    return std::nullopt;
  }
  return Shift{onset, series.reference, (job.before + job.after) / 2};
}

}  // namespace

std::optional<Shift> FindRankShift(const JobView& view, const JobSeries& series,
                                   const DiagnosisConfig& config) {
  if (series.reference <= 0) return std::nullopt;
  const JobSeries window = WindowOf(series);
  if (series.episode.value >= 0) {
    std::optional<Shift> goes_on = GoesOn(view, window, config);
    if (goes_on) goes_on->first = series.PlaceOf(series.episode);
    return goes_on;
  }
  const std::size_t known = series.points.size() - window.points.size();
  const std::vector<double> times = SecondsOf(series, 0, series.points.size());
  const Places places = PlacesOfRise(times, known, config);
  if (places.high == 0) return std::nullopt;
  const OwnTimes ranks(view, window);
  const RankStep rank = Largest(
      ranks, {places.low - known, places.high - known, places.best - known, places.rise}, config);
  if (rank.seconds.empty()) return std::nullopt;
  const StepLimits limits = StepLimitsOf(config);
  const std::size_t split = known + rank.split;
  const Step job = StepAt(times, split, limits);
  const Needed needed = NeededToBegin(config);
  if (!IsRise(job, needed) || !RoseThere(times, job, config) || !Explains(rank, job, config) ||
      !IsApart(rank, config) || StandsOutBy(ranks, rank, limits) < needed.rank_sigmas) {
    return std::nullopt;
  }
  return Shift{split, job.before, (job.before + job.after) / 2};
}

}  // namespace fathom::diagnosis
