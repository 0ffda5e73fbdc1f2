// How soon a communication op of a device begins that only waited for the one before it.
//
// Used by daemon/agent/pipeline/hidden_ops, which tells what computing hid, and by
// diagnosis/ledger/lanes, which plays rows again: what one takes for a launch that was queued on
// its stream the other must, too.
//
// Units: ns of the device's clock. Thread-safety: a constant.
// Source: ours, above what NCCL's kernels in one stream lie apart.
#ifndef FATHOM_PROTO_TYPES_CHAINED_OPS_H_
#define FATHOM_PROTO_TYPES_CHAINED_OPS_H_

#include "proto/types/time_units.h"

namespace fathom {

// At most so long from the end of the one before until it begins.
inline constexpr Nanos kChainedWithin{30'000};

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_CHAINED_OPS_H_
