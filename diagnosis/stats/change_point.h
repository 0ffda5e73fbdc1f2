// Bayesian online change point detection: since when does a series follow its present law?
//
// Used by diagnosis/watch/watch for the onset of a degradation.
//
// Model: the run length r_t is the number of values since the last change. Each value is normal
// with unknown mean and precision (normal-gamma prior), so its prediction is a Student t; a change
// happens before any value with a constant hazard, one in longest_run: what is seen decides. The
// posterior over r_t is carried forward value by value; run lengths beyond `longest_run` are folded
// into the longest.
//
// Units: of the series; the caller scales it so that 1 is about its noise.
// Thread-safety: pure function. Cost: O(n × longest_run).
// Source: Adams & MacKay 2007, algorithm 1; deviation: the bounded run length.
#ifndef FATHOM_DIAGNOSIS_STATS_CHANGE_POINT_H_
#define FATHOM_DIAGNOSIS_STATS_CHANGE_POINT_H_

#include <cstddef>
#include <vector>

namespace fathom::diagnosis {

struct ChangePointPrior {
  double mean = 0;
  double mean_weight = 0.05;  // kappa: how many values the prior mean is worth
  double shape = 2;           // alpha
  double rate = 2;            // beta; with shape 2 an expected variance of about 1 … 2
  std::size_t longest_run = 400;
};

// The posterior over where the present run began: probability[i] that value i is its first.
// Values older than longest_run share their mass at the oldest one kept.
std::vector<double> RunStartPosterior(const std::vector<double>& values,
                                      const ChangePointPrior& prior);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_STATS_CHANGE_POINT_H_
