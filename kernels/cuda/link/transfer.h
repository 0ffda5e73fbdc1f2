// How fast a GPU and its host, and two GPUs, hand each other memory.
//
// Used by cuda/suite. Model: pinned memory of the host, copies of 128 MiB by the copy engines,
// timed by the host's clock, between GPUs by events, one GPU after the other, so that each link is
// measured alone; both directions at once by two streams. Latency: the host puts in a copy of 4
// bytes, or an empty kernel, and waits. Between two GPUs: each direction of each pair, NVLink or
// PCIe, whichever they have; what arrived is held against what was sent.
//
// Figures: gpu_from_host, gpu_to_host, gpu_both_ways (B/s), gpu_copy_latency, gpu_launch_latency
// (s); gpu_peer (B/s; where: "gpu0-gpu1"), gpu_peer_latency (s). Errors: faulty where other bits
// arrived; peers: skipped with one GPU, or where none reaches another's memory. Cost: 256 MiB each.
#ifndef FATHOM_KERNELS_CUDA_LINK_TRANSFER_H_
#define FATHOM_KERNELS_CUDA_LINK_TRANSFER_H_

#include "kernels/cuda/device/run_on_gpus.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

ProbeResult GpuHostTransfer(const GpuBounds& bounds);
ProbeResult GpuPeers(const GpuBounds& bounds);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_LINK_TRANSFER_H_
