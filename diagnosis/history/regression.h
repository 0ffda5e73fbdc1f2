// Is a run slower than earlier runs of its profile, by more than such runs differ anyway?
//
// Called by collector/runs when a run has come to the end of a stretch (run_sample.h).
//
// Model: the location of the iteration's duration is held against that of the earlier runs over the
// same stretch (metric_shift.h). Slower: chance below kMostChance and the growth at least
// LeastGrowth. A run that takes as long as they in the middle but has a heavier tail shows in its
// shape: the Wasserstein distance to theirs, each less its location, is above kShapeFactor × the
// largest among themselves while its mean is above all of theirs by LeastGrowth; a twentieth at the
// top is left out, so that spikes are no shape.
//
// A run whose iterations grow by less still shows in its issue latency (issue_shift.h): where that
// has fallen, kIssueGrowth is enough at a chance below kIssueChance. Where runs differ by so much
// that kBlindTo more would not be told, iterations do not tell that it costs nothing either: there
// a far fall is told by itself, without a cost.
//
// What is left of an iteration without waiting for cores is held against theirs in the same way:
// on a machine that others load it tells what the duration is too uncertain for. Where it has grown
// by kMetricGrowth at a chance below kMetricChance, another metric that has moved for certain is
// enough (metric_shift.h): void time that grew by LeastGrowth of the iteration, more operations by
// kMoreWork, a rate of operations that fell by kLowerRate. Operations are counted, not measured:
// beside more of them a chance below kWorkChance is enough.
//
// A growth that is mostly waiting for cores is somebody else's load on the machine: no regression.
//
// A machine that has become slower makes all that its hosts do longer by about the same factor.
// What it does not explain is a witness that the job does something else (Witnessed): issue latency
// that fell, more operations, operations that run as fast as before beside a longer iteration, void
// time that grew out of proportion, a growth that is mostly garbage collection or batches.
//
// Units: seconds; relative where it says so. Thread-safety: pure functions. Errors: kUnknown, with
// the reason. Cost: O(runs² × quantiles).
// Source: methods of XPUTimer (Wasserstein distance to healthy runs).
#ifndef FATHOM_DIAGNOSIS_HISTORY_REGRESSION_H_
#define FATHOM_DIAGNOSIS_HISTORY_REGRESSION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/history/metric_shift.h"
#include "diagnosis/history/run_sample.h"

namespace fathom::diagnosis {

struct HistoryLimits {
  static constexpr std::size_t kLeastRuns = 3;
  static constexpr std::size_t kMostRuns = 8;  // the newest
  static constexpr std::size_t kSureRuns = 5;  // fewer establish nothing
  static constexpr double kMostChance = 5e-4;  // of a healthy run that is called slower
  static constexpr double kSureChance = 1e-5;  // that establishes
  static constexpr double kShapeFactor = 3;
  static constexpr double kShapeShare = 0.02;            // of the iteration, at least
  static constexpr std::int64_t kShapeIterations = 150;  // fewer have no shape to speak of
  static constexpr double kCoresShare = 0.5;             // of the growth
  static constexpr double kIssueGrowth = 0.005;
  static constexpr double kIssueChance = 0.05;
  static constexpr double kMetricGrowth = 0.005;
  static constexpr double kMetricChance = 0.05;
  static constexpr double kBlindTo = 0.05;
  static constexpr double kMoreWork = 0.01;
  static constexpr double kWorkChance = 0.25;
  static constexpr double kLowerRate = 0.03;
  // Earlier runs that began within so long do not tell how the machine changes over hours.
  static constexpr double kSitting_s = 7200;
  static constexpr double kPaceShare = 0.5;  // of the growth, that slower operations explain
  static constexpr double kOutOfPlace = 3;   // × the growth of the iteration
};

// Relative, of a stretch of so many iterations.
double LeastGrowth(std::int64_t iterations);

enum class RunOutcome : std::uint8_t { kUnknown, kSame, kSlower, kFaster, kStarved };
std::string_view ToString(RunOutcome outcome);

struct RunJudgement {
  RunOutcome outcome = RunOutcome::kUnknown;
  std::string why;              // it is not known
  std::size_t runs = 0;         // that it was held against
  std::int64_t iterations = 0;  // of the new run
  double before_s = 0;          // an iteration, of the earlier runs
  double after_s = 0;
  double chance = 1;     // that a healthy run is as slow, or (faster) as fast
  double spread = 0;     // between the runs, relative
  double told_from = 0;  // the least growth that would be told, relative
  double shape_s = 0;    // distance of its shape from theirs, and the largest among theirs
  double usual_shape_s = 0;
  bool by_shape = false;   // only its shape tells
  bool by_issue = false;   // only its issue latency tells
  bool unpriced = false;   // likewise, and what it costs cannot be told
  bool by_net = false;     // only what is left without waiting for cores tells
  bool by_metric = false;  // only void time or floating-point operations tell
  IssueShift issue;
  MetricShifts shifts;
  // Those that have moved for certain, and by enough to matter.
  bool more_between = false, more_within = false, more_work = false, lower_rate = false;
  IterationParts before, after;  // means

  double growth() const { return before_s > 0 ? after_s / before_s - 1 : 0; }
};

// `history`: the same stretch of earlier healthy runs, the newest last.
RunJudgement JudgeRun(const Distribution& run, const std::vector<Distribution>& history);

// Whether more than its duration tells that the run differs from the earlier ones, so that a slower
// machine does not explain it. Requires: the judgement is kSlower.
bool Witnessed(const RunJudgement& judgement);

// The part that grew most with the iteration, as a sentence says it; empty where none leads.
std::string LeadingPart(const IterationParts& before, const IterationParts& after);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HISTORY_REGRESSION_H_
