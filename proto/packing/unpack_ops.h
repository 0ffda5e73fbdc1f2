// The rows of ops that proto/packing/pack_ops.h packed.
//
// Used by collector/import/fathom when a stretch of a job is judged again, and by tests.
//
// Model: the columns are checked before they are used: their lengths, the places that they name,
// the size that they claim. What the rows say is for the reader to check, as it does with rows that
// it asked for. Units: ns. Thread-safety: pure function. Errors: InvalidArgument in one line.
// Cost: O(ops); memory of at most kMaxPackedBytes beside the rows.
#ifndef FATHOM_PROTO_PACKING_UNPACK_OPS_H_
#define FATHOM_PROTO_PACKING_UNPACK_OPS_H_

#include "absl/status/statusor.h"
#include "fathom/v1/ops.pb.h"
#include "fathom/v1/row.pb.h"

namespace fathom {

// `request_id` is 0: nobody asked.
absl::StatusOr<v1::RowsReply> UnpackOps(const v1::OpsBlock& block);

}  // namespace fathom

#endif  // FATHOM_PROTO_PACKING_UNPACK_OPS_H_
