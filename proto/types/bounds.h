// Bounds on numbers that come from outside, so that what is worked out from two of them is a number
// still.
//
// Used where bytes of a ring, a window file, a message or a trace, or the text of a setting, become
// numbers: daemon/agent, collector/ingest, collector/import, collector/config
// (docs/formats/stream.md tells them to other implementers).
//
// Units: ns; iterations. Thread-safety: constants and a pure function. Errors: none.
#ifndef FATHOM_PROTO_TYPES_BOUNDS_H_
#define FATHOM_PROTO_TYPES_BOUNDS_H_

#include <algorithm>
#include <cstdint>

namespace fathom {

inline constexpr std::int64_t kFarMonoNs = std::int64_t{1} << 61;  // 73 years of one machine
inline constexpr std::int64_t kFarWallNs = std::int64_t{1} << 62;  // the year 2116
inline constexpr std::int64_t kFarIteration = std::int64_t{1} << 60;

// A sum of times that stops at kFarMonoNs. Requires: sum ≤ kFarMonoNs, 0 ≤ more ≤ kFarWallNs.
inline void AddBounded(std::int64_t& sum, std::int64_t more) {
  sum = std::min(sum + more, kFarMonoNs);
}

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_BOUNDS_H_
