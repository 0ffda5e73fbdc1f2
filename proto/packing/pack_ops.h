// Rows of ops, packed for a network and a disk on which all of them go, all the time.
//
// Used by daemon/agent/ops; proto/packing/unpack_ops.h is the way back. docs/formats/ops.md.
//
// Model: a column a field, in each the difference to what was to be expected, so that most values
// are small and alike; then zstd over all of them. Times are whole kPackedTime, CPU times whole
// kPackedCpu, both rounded so that no order is turned around: of two moments the later one is never
// before the earlier one, and a time that is known never becomes 0, which says that it is not.
//
// Units: ns in the rows. Thread-safety: pure functions. Errors: none; a row is packed whatever it
// says. Cost: O(ops); docs/formats/ops.md has what was measured.
#ifndef FATHOM_PROTO_PACKING_PACK_OPS_H_
#define FATHOM_PROTO_PACKING_PACK_OPS_H_

#include <cstdint>

#include "fathom/v1/ops.pb.h"
#include "fathom/v1/row.pb.h"
#include "proto/types/time_units.h"

namespace fathom {

// What the shortest collectives take tens of.
inline constexpr Nanos kPackedTime{1'000};
// CPU times come from samples, some milliseconds apart.
inline constexpr Nanos kPackedCpu{10'000};

// What a packer never exceeds and an unpacker never accepts more of, inflated.
inline constexpr std::uint32_t kMaxPackedBytes = 16 << 20;

// `rows.request_id`, `error` and what is missing or cut of a rank are not kept.
v1::OpsBlock PackOps(const v1::RowsReply& rows, std::uint64_t serial);

}  // namespace fathom

#endif  // FATHOM_PROTO_PACKING_PACK_OPS_H_
