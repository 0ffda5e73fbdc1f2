// The iteration times of a job as one series, each judged regular or irregular.
//
// Built from the summaries of a view; used by Watch() and Diagnose().
//
// Model: the time of an iteration is the median over the ranks that reported it. It is irregular
// when it is above delta × reference and above reference + noise_factor × noise, where reference
// and noise (median; the larger of scaled MAD and upper-decile spread, and no less than a quiet
// job's, up to which delta decides) are taken over the trailing regular iterations only. The first
// baseline_iterations only teach. During an episode handed back by the caller its baseline stays
// frozen, so that a long degradation never becomes normal. Iterations handed back stay in the
// series as they were judged when they came, also those that have left the window since: a window
// that is short, or full of a slow stretch that is over, would teach something else. Only while
// there are few, during an episode, and where later reports changed an iteration's time, what is in
// the window is judged anew.
//
// Units: seconds. Thread-safety: plain values. Cost: O(ranks × window).
// Source: Holmes (NSDI'25) for delta-irregularity; the noise term is ours.
#ifndef FATHOM_DIAGNOSIS_WATCH_SERIES_H_
#define FATHOM_DIAGNOSIS_WATCH_SERIES_H_

#include <cstddef>
#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct SeriesPoint {
  Iteration index;
  WallNs begin;
  double seconds = 0;
  bool regular = true;
  bool past = false;    // not in the window any more
  bool judged = false;  // by an earlier look
};

// An iteration that takes longer than this many seconds is irregular: `reference` is what one takes
// usually, `noise` how much that varies.
double IrregularAbove(const DiagnosisConfig& config, double reference, double noise);

struct JobSeries {
  std::vector<SeriesPoint> points;  // ordered by index
  double reference = 0;             // present baseline; 0 while it is not known
  double noise = 0;                 // its standard deviation
  Iteration episode{-1};            // onset of the one handed back by the caller; −1: none

  // Of the first point that is not before `iteration`; points.size() if there is none.
  std::size_t PlaceOf(Iteration iteration) const;
};

JobSeries BuildSeries(const JobView& view, const DiagnosisConfig& config);

// Of the points since `onset` alone, each judged anew, as if the job had begun there. `known`: an
// episode among them that was handed back, or none.
JobSeries SeriesSince(const JobSeries& series, Iteration onset, const Episode& known,
                      const DiagnosisConfig& config);

// Why a job counts as slow, and since which point. `first` = points.size(): it does not.
struct Onset {
  std::size_t first = 0;
  bool persistent = false;  // else it comes and goes
  double probability = 0;   // of a change at `first`
};

// Only what has come and gone fluctuates: what the newest points have begun may last, and a spike
// before it would date it wrongly.
Onset FindOnset(const JobSeries& series, const DiagnosisConfig& config);

// Whether the episode handed back and what lasts since `onset` are one: nearly all points between
// are irregular, or they fluctuate by themselves, or the window has forgotten them. Else the
// episode begins at `onset`, and what was before were spikes. Requires: series.episode is known.
bool IsOneEpisode(const JobSeries& series, std::size_t onset, const DiagnosisConfig& config);

// Of the points [from, to), in seconds.
std::vector<double> SecondsOf(const JobSeries& series, std::size_t from, std::size_t to);

// The place after the last stretch that is long enough to have ended an episode: what was before it
// is none of this one. 0 if there is none.
std::size_t AfterCalm(const JobSeries& series, const DiagnosisConfig& config);

// Irregular points among the last `count`.
std::size_t IrregularAmongLast(const JobSeries& series, std::size_t count);

// What is to be handed back of the series: the window, the newest trailing_window points, as
// many of the newest regular ones before `episode` (there may be none), and of those in it before
// its rise. A noisy job's iterations may be regular in an episode, and would push out what they are
// compared with.
std::vector<PastIteration> PastOf(const JobSeries& series, const Episode& episode,
                                  const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_SERIES_H_
