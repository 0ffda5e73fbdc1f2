// What a rank's device and its host did differently, where that was recorded: the kernel that takes
// longer than on its peers, and the launches that the host is late with.
//
// Used by wording/phrase. Thread-safety: pure functions. Units: seconds, an iteration.
//
// Model: in a window of detail (job_view.h) of the slow iterations a kernel of the rank is compared
// with the same kernel of the other ranks that launched it as often, launch by launch: the median
// of their means is what it should take. A window that closes while kernels run lacks them, at most
// those of an iteration: what is missing changes neither who is compared nor the times. In the
// rows, what the host spent launching is compared with the iterations before the onset.
// Source: methods 8 and 12 (kernels against peers; launch-bound hosts).
// Errors: nothing where there is no such record, fewer than two peers, or no difference
// that explains explains_share of the excess. Cost: O(ranks × names), O(rows of the rank).
#ifndef FATHOM_DIAGNOSIS_WORDING_KERNEL_H_
#define FATHOM_DIAGNOSIS_WORDING_KERNEL_H_

#include <optional>
#include <string>

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

struct SlowKernel {
  std::string name;
  double seconds = 0;  // an iteration, on this rank
  double peers = 0;    // median of its peers
  double launches = 0;
  std::size_t compared = 0;  // peers
  double profiler = 0;       // share of the window that CUPTI's own work took on this rank
};

std::optional<SlowKernel> SlowKernelOf(const Case& c, RankId rank, double excess);

struct SlowLaunches {
  double seconds = 0;  // of the host in launches, an iteration
  double before = 0;
  double launches = 0;
  double launches_before = 0;
};

std::optional<SlowLaunches> SlowLaunchesOf(const Case& c, RankId rank, double excess);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WORDING_KERNEL_H_
