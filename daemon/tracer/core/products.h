// Counts the floating-point operations of products of matrices, and times those of the CPU.
//
// Called by daemon/tracer/interpose/blas with plain values; knows no library. device_calls.cc
// writes what was counted before each op and wait, together with the CUDA calls of the thread.
//
// Model: the operations are summed for the process, by class, because a library computes a product
// in threads of its own; the time is that of the thread that called. Products of one thread that
// lie less than abi::kStretchGapNs apart are one stretch, which becomes one record before the
// thread's next op or wait, at the first product behind a longer gap, or after kFlushCalls calls.
// Units: FLOP; CLOCK_MONOTONIC ns. Thread-safety: thread-safe. Errors: none. What a thread has not
// written when it ends is written by the next one that writes; its stretch is lost.
// Cost: one addition to a word that threads share, 10 ns, and on the CPU two clock reads.
#ifndef FATHOM_DAEMON_TRACER_CORE_PRODUCTS_H_
#define FATHOM_DAEMON_TRACER_CORE_PRODUCTS_H_

#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"
#include "proto/types/flop_class.h"

namespace fathom::tracer {

// Of `batch` products of m × k by k × n, real numbers; 0 where one of the sides is none.
constexpr std::uint64_t FlopOfProduct(std::int64_t m, std::int64_t n, std::int64_t k,
                                      std::int64_t batch = 1) {
  if (m <= 0 || n <= 0 || k <= 0 || batch <= 0) return 0;
  return 2 * static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(n) *
         static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(batch);
}

// A product that this thread computed on the CPU from `begin_ns` to now.
void NoteProduct(const TracerState& state, FlopClass flop_class, std::uint64_t flop,
                 std::int64_t begin_ns);
// One that it put on a stream of a GPU.
void NoteDeviceProduct(const TracerState& state, FlopClass flop_class, std::uint64_t flop);

// Writes what was counted. Requires: this thread has counted something.
void WriteProducts(const TracerState& state, std::int64_t now_ns);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_PRODUCTS_H_
