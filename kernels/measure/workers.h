// One thread a core, each bound to its core, and the slices of work that it did.
//
// Used by the probes of kernels/cpu and kernels/memory.
//
// Model: a slice is some milliseconds of the same work. Its rate is work by the CPU time of its
// thread, not by wall time: what other processes take of a core is told apart (cpu/spin), and does
// not make the core itself look slow.
//
// Units: seconds; rates are work units a second. Thread-safety: RunOnCpus blocks its caller until
// all threads have ended. Errors: a core that a thread cannot be bound to is measured unbound.
#ifndef FATHOM_KERNELS_MEASURE_WORKERS_H_
#define FATHOM_KERNELS_MEASURE_WORKERS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "kernels/measure/bounds.h"

namespace fathom::kernels {

double WallSeconds();        // monotonic
double ThreadCpuSeconds();   // of the calling thread
double ThreadWaitSeconds();  // the calling thread has waited for a core; 0 where that is not told

bool BindToCpu(int cpu);

// `work` gets the place in `cpus`, on a thread bound to that core.
void RunOnCpus(const std::vector<int>& cpus, const std::function<void(std::size_t)>& work);

// Calls `slice` again and again, once at least, until `seconds` have passed or the probe is
// stopped; each result is the slice's work divided by its CPU time.
std::vector<double> SliceRates(const Bounds& bounds, double seconds, double work_of_slice,
                               const std::function<void()>& slice);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_MEASURE_WORKERS_H_
