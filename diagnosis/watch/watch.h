// The cheap look at every new iteration: is the job irregular or stalled, and which rows would tell
// why? Runs always; needs summaries and process facts only.
//
// Called by the diagnoser (collector/evaluate/diagnoser) after new summaries came (at most a few
// times a second a job), by importers and by the simulator. Pure: the same view gives the same
// answer.
//
// Model: job iteration time = median over ranks. Irregular: > delta × median of a trailing window
// that excludes irregular iterations, and above the job's own noise (methods.md 2; Holmes δ
// = 1.05). The onset is found by Bayesian online change point detection (Adams & MacKay 2007). A
// rank is stalled when it is silent for longer than stall_factor × its own iteration, with a floor.
//
// A job may become slower for good with nobody to blame: longer sequences, a larger batch. In an
// episode in which nobody was convicted (Episode::named) its own iterations are watched like those
// of a job that began with it; a lasting rise above them, after learning_iterations, is looked into
// by itself.
//
// Thread-safety: pure functions. Cost: O(ranks × window).
#ifndef FATHOM_DIAGNOSIS_WATCH_WATCH_H_
#define FATHOM_DIAGNOSIS_WATCH_WATCH_H_

#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// Rows that Diagnose() would use. Empty: none needed.
struct RowsWanted {
  std::vector<RankId> ranks;
  std::vector<Iteration> iterations;  // irregular ones and baseline ones for comparison
  bool empty() const { return ranks.empty() || iterations.empty(); }
};

struct Suspicion {
  bool slow = false;     // enough irregular iterations to ask why
  bool stalled = false;  // some rank is stalled
  bool differs = false;  // not slow against its past, but a rank is, now or again and again
  bool settled = false;  // regular for a while: open verdicts on slowness may be closed
  Iteration onset{-1};   // first irregular iteration of the present episode
  Iteration usual_from;  // what was before tells nothing of what is usual
  WallNs onset_time;
  Nanos expected;                 // baseline iteration time; 0 while it is not known
  Nanos measured;                 // median of the recent ones
  Nanos noise;                    // standard deviation of regular iteration times
  double change_probability = 0;  // that the onset is a change and not chance
  std::vector<IrregularIteration> irregular;
  RowsWanted rows;
  std::int64_t seen_since_onset = 0;  // iterations, regular ones too; 0 unless slow
  Episode episode;                    // to be handed back in JobView::episode; empty unless slow
  // At most one: slower yet since some iteration of an episode that is nobody's doing, measured by
  // what was usual in the episode before. Its rows are among those of the whole.
  std::vector<Suspicion> rise;
  // To be handed back in JobView::past: the window and no more than three times trailing_window.
  std::vector<PastIteration> past;
  SpikeMemory spikes;  // to be handed back in JobView::spikes; whose they are: watch/spikes
};

Suspicion Watch(const JobView& view, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_WATCH_H_
