// A spin of a given length on all cores at once: the clock of each core, whether it falls while
// they are hot, and how much of their time the probe got.
//
// Used by suite. Model: a chain of multiplications, each of which needs the one before, runs at the
// clock of its core and at nothing else: not at the speed of memory, nor at what a second thread of
// the core does. Its rate by CPU time is the core's clock; the CPU time that it did not get is told
// by who took it: a quota of its cgroup, the hypervisor, other processes.
//
// Figures: chain_rate (1/s, median core), slowest_core (ratio to the median core), hold (ratio of
// the last third's rate to the first's, of the core that fell most), and as shares of the cores'
// time throttled, stolen, waited.
//
// Errors: none. Cost: all cores for its time; no memory to speak of.
#ifndef FATHOM_KERNELS_CPU_SPIN_H_
#define FATHOM_KERNELS_CPU_SPIN_H_

#include "kernels/measure/bounds.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

ProbeResult Spin(const Bounds& bounds);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CPU_SPIN_H_
