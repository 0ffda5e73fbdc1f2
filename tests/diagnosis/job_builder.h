// Plays a small training job event by event on a virtual clock and writes down what the tracer and
// the agent would have seen of it.
//
// Used by the tests of diagnosis. The job is really played: a collective ends when its last member
// has come, a receive when the message is there; lateness travels as it does in life.
//
// Clocks: every rank has its own monotonic clock with its own origin, so that a rule that compares
// clocks of two ranks fails.
// Thread-safety: none needed. Deterministic for a seed.
#ifndef FATHOM_TESTS_DIAGNOSIS_JOB_BUILDER_H_
#define FATHOM_TESTS_DIAGNOSIS_JOB_BUILDER_H_

#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/watch.h"
#include "tests/diagnosis/job_spec.h"

namespace fathom::diagnosis::testing {

// The whole job: all summaries, all rows, and process facts at its end.
JobView PlayJob(const JobSpec& spec);

// The job as it stood after `iterations` iterations, without rows.
JobView After(const JobView& whole, std::size_t iterations);

// Adds the rows that were asked for.
void FillRows(const JobView& whole, const RowsWanted& wanted, JobView& view);

}  // namespace fathom::diagnosis::testing

#endif  // FATHOM_TESTS_DIAGNOSIS_JOB_BUILDER_H_
