// How fast a node's memory is read, written and copied, by NUMA node, all its cores at once, and
// how long one access takes that must wait for the one before.
//
// Used by suite. Model: each core of a NUMA node has a part of that node's memory (it touches it
// first) and goes through it in slices of a few MiB, all nodes at the same time. Latency: one core
// follows a random ring through more memory than its caches hold; with several NUMA nodes, once
// through the memory of its own and once, from the first node, through that of every other.
//
// Figures: memory_read, memory_write, memory_copy (B/s, sum over the cores of a node, each by its
// CPU time; a copied byte counts once), memory_latency (s).
//
// Errors: skipped where the memory that it may take is too small to tell. Cost: bounds.bytes.
#ifndef FATHOM_KERNELS_MEMORY_BANDWIDTH_H_
#define FATHOM_KERNELS_MEMORY_BANDWIDTH_H_

#include "kernels/measure/bounds.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

ProbeResult MemoryBandwidth(const Bounds& bounds);
ProbeResult MemoryLatency(const Bounds& bounds);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_MEMORY_BANDWIDTH_H_
