// Has one metric of a run moved against earlier runs of its profile, by more than they differ?
//
// Used by regression.h, for the duration of an iteration and the metrics beside it: what is left of
// it without waiting for cores, void time, the rate of floating-point operations, and how many of
// them an iteration takes.
//
// Model, in logarithms: with n earlier values of mean m and spread s, a new x is held against a
// Student t of x − m in units of s × √(1 + 1/n). Of few runs s is uncertain: it is drawn towards
// `least_spread` (of the two times what the runs' own blocks differ by, if that is more), which
// counts as kPriorDegrees more runs. A metric that one of the runs does not tell is not compared.
//
// Units: as given; relative where it says so. Thread-safety: pure. Errors: known is false. Cost:
// O(runs).
// Source: the t of a single new observation, e.g. Gelman and others, Bayesian Data Analysis, 3.2.
#ifndef FATHOM_DIAGNOSIS_HISTORY_METRIC_SHIFT_H_
#define FATHOM_DIAGNOSIS_HISTORY_METRIC_SHIFT_H_

#include <vector>

#include "diagnosis/history/run_sample.h"

namespace fathom::diagnosis {

struct MetricShift {
  static constexpr int kPriorDegrees = 3;

  bool known = false;
  double before = 0;  // geometric mean of the earlier runs
  double after = 0;
  double spread = 0;        // between the runs, relative
  double chance_above = 1;  // that a healthy run is as far above, or below
  double chance_below = 1;
  int degrees = 1;   // of its t
  double scale = 0;  // standard deviation of a new run's logarithm from their mean

  double growth() const { return before > 0 ? after / before - 1 : 0; }
  // That a healthy run reaches with this chance. Requires: 0 < chance < 0.5.
  double GrowthAt(double chance) const;
};

// Requires: earlier values that are told are above 0; 0 stands for what is not told.
MetricShift ShiftOf(double run, const std::vector<double>& history, double least_spread);

// Those of a run. In seconds, FLOP/s and FLOP, of a rank.
struct MetricShifts {
  MetricShift duration, net, between, within, rate, work;
};
MetricShifts ShiftsOf(const Distribution& run, const std::vector<Distribution>& history);

// Operations a second while it neither waits nor is void; 0 where that is not known.
double FlopRate(const IterationParts& parts);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HISTORY_METRIC_SHIFT_H_
