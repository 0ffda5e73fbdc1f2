// Does the host of a run still run ahead of its GPU as in earlier runs of the profile?
//
// Used by history/regression.h; SharesOf also where iterations are summed up (collector/job).
//
// Model: a host that is ahead issues an op long before its stream reaches it. One that waits for
// the GPU once an iteration (item(), a print, synchronize()) issues what follows just before its
// turn, on all ranks alike, while the iteration grows by a few percent only: less than runs may
// differ by, so that its duration does not tell. The distributions of issue latency
// (issue_latency.h, as shares of ops) are held against each other by the Wasserstein-1 distance of
// their logarithms, in decades. Fallen: the run's mean lies kLeastFall below the lowest of the
// earlier runs', and its mean distance from them is kFallFactor × the largest among themselves, and
// kLeastFall. Fallen far: twice as much of each.
//
// Units: decades; seconds where it says so. Thread-safety: pure functions. Errors: not known where
// one of the runs has no shares. Cost: O(runs² × buckets).
// Source: issue latency and the distance are XPUTimer's; buckets and thresholds are ours.
#ifndef FATHOM_DIAGNOSIS_HISTORY_ISSUE_SHIFT_H_
#define FATHOM_DIAGNOSIS_HISTORY_ISSUE_SHIFT_H_

#include <array>
#include <vector>

#include "proto/types/issue_latency.h"

namespace fathom::diagnosis {

// Of ops by issue latency; they sum to 1, or to 0 where it is not known.
using IssueShares = std::array<float, kIssueBuckets>;

IssueShares SharesOf(const IssueLatency& sketch);
bool Known(const IssueShares& shares);
double IssueDistance(const IssueShares& a, const IssueShares& b);
// Geometric mean, from the middles of the buckets.
double TypicalIssue_s(const IssueShares& shares);

struct IssueShift {
  static constexpr double kLeastFall = 0.3;  // decades: half as long
  static constexpr double kFallFactor = 3;

  bool known = false;
  bool fallen = false;
  bool far = false;                  // so that it needs no other witness
  double before_s = 0, after_s = 0;  // typical
  double distance = 0;               // of the run from the earlier ones, decades
  double usual_distance = 0;         // the largest among them
};

IssueShift ShiftOf(const IssueShares& run, const std::vector<IssueShares>& history);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HISTORY_ISSUE_SHIFT_H_
