// Whether the computing of a job varies with its data: by the length of the sequences in a
// micro-batch.
//
// Used by schedule/unequal_work. Model: forward and backward computing of one micro-batch on one
// worker are a pair. Within a step and a stage they differ between micro-batches and replicas;
// where the data is the reason, they differ together. What is constant for a worker (a slow device)
// or for a step (a longer warm-up) is taken out first.
//
// Units: seconds; correlation −1 to 1. Thread-safety: pure functions. Cost: O(ops).
// Source: What-if Analysis (OSDI'25), section 5.3: correlation of at least 0.9.
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_MICRO_BATCHES_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_MICRO_BATCHES_H_

#include <optional>

#include "diagnosis/schedule/replay.h"

namespace fathom::diagnosis {

// Of forward with backward computing, each against `level`, which is Levelled(schedule, lengths),
// over all pairs; none where so many pairs would correlate so by chance with this chance or more.
std::optional<double> CorrelationOfLengths(const Schedule& schedule, const Lengths& lengths,
                                           const Lengths& level, double most_chance);

// `lengths` with the computing of each step levelled: all micro-batches and replicas of a stage,
// chunk and direction take their mean, times what is constant for the worker.
Lengths Levelled(const Schedule& schedule, const Lengths& lengths);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_MICRO_BATCHES_H_
