// Rows on the wire → rows of diagnosis: enumerators range-checked, iteration numbers the job's.
//
// Used by JobState for RowsReply. Units: ns of the node's monotonic clock, as they come.
// Thread-safety: pure functions. Errors: none; an unknown kind becomes kUnknown.
#ifndef FATHOM_COLLECTOR_WINDOW_ROW_CONVERSION_H_
#define FATHOM_COLLECTOR_WINDOW_ROW_CONVERSION_H_

#include <optional>

#include "diagnosis/model/comm_op.h"

namespace fathom::v1 {
class CommOp;
class Mark;
}  // namespace fathom::v1

namespace fathom::collector {

diagnosis::CommOp ToCommOp(const v1::CommOp& op, Iteration iteration);
// Nothing for a kind of mark that this version does not know.
std::optional<diagnosis::Mark> ToMark(const v1::Mark& mark, Iteration iteration);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_WINDOW_ROW_CONVERSION_H_
