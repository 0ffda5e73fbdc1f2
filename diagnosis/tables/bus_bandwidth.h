// How fast a communicator moves bytes: bus bandwidth of collectives, from the interval of the last
// member to arrive, when nobody waits any more.
//
// Made from the collectives of a recording; read by collector/export/tables.
// docs/formats/tables.md.
//
// Model: bandwidth = bytes / transfer; the bus bandwidth multiplies it with what a collective moves
// over the slowest link for each byte, so that it can be held against the link whatever kind and
// size of communicator: all_reduce 2 (n-1)/n, all_gather, reduce_scatter and all_to_all (n-1)/n of
// the whole buffer of a rank. Other kinds are left out: their members do not leave together, so
// that durations do not tell who came last.
//
// Units: bytes, seconds. Thread-safety: pure functions. Errors: 0 where it cannot be told. Cost:
// O(n log n). Source of the factors: PERFORMANCE.md of NVIDIA's nccl-tests.
#ifndef FATHOM_DIAGNOSIS_TABLES_BUS_BANDWIDTH_H_
#define FATHOM_DIAGNOSIS_TABLES_BUS_BANDWIDTH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/types/collective_kind.h"

namespace fathom::diagnosis {

// What the bytes of an all_gather are, by source.
enum class GatherBytes : std::uint8_t { kUnknown, kWhole, kPart };

// 0: not of this kind, or of fewer than two members.
double BusFactor(CollectiveKind kind, std::size_t members);

// The whole buffer of a rank; 0 where the source does not say what its bytes are.
double WholeBytes(CollectiveKind kind, std::uint64_t bytes, std::size_t members,
                  GatherBytes gathers);

struct CollectiveRow;

// All collectives of a communicator, kind and size.
struct BandwidthRow {
  std::string group;
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::uint64_t bytes = 0;
  std::size_t members = 0;
  std::size_t count = 0;
  double transfer = 0;  // median
  double bus = 0;       // median, bytes a second
  double bus_slow = 0;  // of the slowest tenth the fastest
};

// By group, kind and size; of those whose bandwidth can be told.
std::vector<BandwidthRow> BandwidthsOf(const std::vector<CollectiveRow>& collectives);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_BUS_BANDWIDTH_H_
