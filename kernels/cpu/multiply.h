// The speed of matrix multiplication of all cores at once, and whether the same inputs give the
// same bits on every core, each time.
//
// Used by suite. Model: every core multiplies the same two matrices (cpu/gemm) again and again; the
// digest of each product is held against that of the first core's first. A core that computes
// something else even once makes the probe faulty, and is named.
//
// Figures: gemm_fp32 or gemm_fp64 (flop/s, sum over cores, each by its CPU time), slowest_core
// (ratio to the median core). Digest: of the product, with the instructions that made it.
//
// Errors: faulty, with core and count. Cost: all cores for its time; under 1 MiB a core.
#ifndef FATHOM_KERNELS_CPU_MULTIPLY_H_
#define FATHOM_KERNELS_CPU_MULTIPLY_H_

#include <cstddef>
#include <functional>

#include "kernels/measure/bounds.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

// Stands between a product and its digest, in tests: where a fault would flip a bit.
using Disturb = std::function<void(std::size_t core, std::size_t slice, void* product)>;

ProbeResult MultiplyFp32(const Bounds& bounds, const Disturb& disturb = nullptr);
ProbeResult MultiplyFp64(const Bounds& bounds, const Disturb& disturb = nullptr);

// Products whose every bit is known beforehand, because they are whole numbers (cpu/gemm), and a
// chain of integer operations: finds what is wrong in the same way each time as well, as a core
// that always miscomputes. Figure: checked (products compared).
ProbeResult Exact(const Bounds& bounds, const Disturb& disturb = nullptr);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CPU_MULTIPLY_H_
