// Leaves out ranks that count other iterations than most of a job.
//
// Used by summary_window and by import/fathom where messages alone tell iterations
// (proto/types/message_anchors.h): each rank counts those of its own stream then, and nothing says
// that they are the job's. Model: ranks that wait for one another take as long for one. Who takes
// another time, in the median over those it told of, counts something else: a rank that evaluates
// now and then, a server that answers each worker by itself.
//
// Thread-safety: pure. Errors: none. Cost: O(iterations × ranks × log).
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_ONE_RATE_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_ONE_RATE_H_

#include <cstddef>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::collector {

inline constexpr std::size_t kFewest = 5;  // iterations of a rank, to tell its time
inline constexpr double kApart = 1.25;     // so many times as long, or as short

void KeepOneRate(std::vector<diagnosis::IterationSummary>& window);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_ONE_RATE_H_
