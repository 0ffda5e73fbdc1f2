// Rows and summaries on the wire → those of diagnosis: enumerators range-checked, iteration numbers
// the job's.
//
// Used by JobState and SummaryWindow, and by the reader of recordings. Units: ns of the node's
// monotonic clock, as they come.
// Thread-safety: pure functions. Errors: none; an unknown kind becomes kUnknown.
#ifndef FATHOM_COLLECTOR_JOB_ROWS_ROW_CONVERSION_H_
#define FATHOM_COLLECTOR_JOB_ROWS_ROW_CONVERSION_H_

#include <optional>

#include "diagnosis/model/comm_op.h"
#include "diagnosis/model/job_view.h"

namespace fathom::v1 {
class CommOp;
class Mark;
class SummaryBatch;
}  // namespace fathom::v1

namespace fathom::collector {

diagnosis::CommOp ToCommOp(const v1::CommOp& op, Iteration iteration);
// Of a function that was timed; nothing for other marks.
std::optional<diagnosis::FunctionCall> ToFunctionCall(const v1::Mark& mark, Iteration iteration);
// Nothing for a kind of mark that this version does not know.
std::optional<diagnosis::Mark> ToMark(const v1::Mark& mark, Iteration iteration);

// Of the rank's ops in the batch's i-th iteration.
IssueLatency ToIssueLatency(const v1::SummaryBatch& batch, int i);

// Of its products of matrices in it.
FlopByClass ToFlop(const v1::SummaryBatch& batch, int i);

// Column `i` of a batch, which begins at `begin`. Requires: the batch is valid.
diagnosis::RankIteration ToRankIteration(const v1::SummaryBatch& batch, int i, MonoNs begin);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ROWS_ROW_CONVERSION_H_
