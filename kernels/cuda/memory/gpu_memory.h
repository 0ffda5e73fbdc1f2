// How fast a GPU's memory is read, written and copied, how long one access takes that must wait for
// the one before, and whether memory keeps what is written into it.
//
// Used by cuda/suite. Model: all processors go through a buffer much larger than the L2, in slices
// timed by events; a copied byte counts once. Latency: one thread follows a ring through random
// lines, once through more than the L2 holds and once through a part of it.
//
// Figures: gpu_memory_read, _write, _copy (B/s), gpu_memory_latency, gpu_l2_latency (s),
// gpu_memory_checked (B, times patterns). Errors: faulty with the first place and the bits that
// flipped; skipped where the memory that it may take is too small. Cost: bounds.bytes at most.
#ifndef FATHOM_KERNELS_CUDA_MEMORY_GPU_MEMORY_H_
#define FATHOM_KERNELS_CUDA_MEMORY_GPU_MEMORY_H_

#include "kernels/cuda/device/run_on_gpus.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

ProbeResult GpuMemoryBandwidth(const GpuBounds& bounds);
ProbeResult GpuMemoryLatency(const GpuBounds& bounds);
ProbeResult GpuMemoryPattern(const GpuBounds& bounds);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_MEMORY_GPU_MEMORY_H_
